#include "reference/gradient_sum.hpp"

#include <cassert>

namespace meshparity::reference {

GradientSum::GradientSum(Eigen::Index rows, Eigen::Index columns, GradientKind kind, bool noisy,
                         std::optional<SumOrder> in_float)
    : value(Matrix::Zero(rows, columns)), kind_(kind), noisy_(noisy), in_float_(in_float) {
  if (noisy && kind == GradientKind::product) {
    left_squares_.setZero(rows);
    right_squares_.setZero(columns);
  } else if (noisy) {
    squares_.setZero(rows, columns);
  }
  if (noisy) {
    terms_.setZero(rows);
  }
}

void GradientSum::set_zero() {
  value.setZero();
  terms_.setZero();
  left_squares_.setZero();
  right_squares_.setZero();
  squares_.setZero();
  before_.setZero();
  sample_squares_.setZero();
}

void GradientSum::watch_samples() {
  watches_ = true;
  before_ = value;
  sample_squares_.setZero(value.rows(), value.cols());
}

void GradientSum::end_sample() {
  if (watches_) {
    sample_squares_ += (value - before_).cwiseAbs2();
    before_ = value;
  }
}

void GradientSum::add_value(const Matrix& terms) {
  value += terms;
  if (in_float_) {
    value = value.cast<float>().cast<double>();
  }
}

void GradientSum::add_product(const Matrix& left, const Matrix& right) {
  assert(kind_ == GradientKind::product);
  if (in_float_) {
    add_value(float_product(left.transpose().cast<float>(), right.cast<float>(), *in_float_)
                  .cast<double>());
  } else {
    value.noalias() += left.transpose() * right;
  }
  if (noisy_) {
    terms_.array() += static_cast<double>(left.rows());
    left_squares_ += left.colwise().squaredNorm().transpose();
    right_squares_ += right.colwise().squaredNorm();
  }
}

void GradientSum::add_rows(const Matrix& terms) {
  if (in_float_) {
    add_value(float_row_sums(terms.transpose(), *in_float_).transpose());
  } else {
    value += terms.colwise().sum();
  }
  if (noisy_) {
    terms_.array() += static_cast<double>(terms.rows());
    squares_ += terms.colwise().squaredNorm();
  }
}

void GradientSum::add_elements(const Matrix& terms) {
  add_value(terms);
  if (noisy_) {
    terms_.array() += 1;
    squares_ += terms.cwiseAbs2();
  }
}

void GradientSum::scatter(const std::vector<int>& rows, const Matrix& terms) {
  assert(kind_ == GradientKind::per_term);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto term = terms.row(static_cast<Eigen::Index>(i));
    value.row(rows[i]) += term;
    if (in_float_) {
      value.row(rows[i]) = value.row(rows[i]).cast<float>().cast<double>();
    }
    if (noisy_) {
      terms_[rows[i]] += 1;
      squares_.row(rows[i]) += term.cwiseAbs2();
    }
  }
}

void GradientSum::add(const GradientSum& other, double share) {
  add_value(share * other.value);
  if (noisy_) {
    terms_ += other.terms_;
    left_squares_ += share * share * other.left_squares_;
    right_squares_ += other.right_squares_;
    squares_ += share * share * other.squares_;
  }
  if (watches_) {
    sample_squares_ += share * share * other.sample_squares_;
  }
}

void GradientSum::finish(Rounding& rounding) {
  if (!rounding.is_noisy()) {
    return;
  }
  assert(noisy_ || watches_);
  if (noisy_ && kind_ == GradientKind::product) {
    rounding.product(value, left_squares_, right_squares_, terms_[0]);
  } else if (noisy_) {
    rounding.sums(value, squares_, terms_);
  }
  if (rounding.rounds_payload()) {
    assert(watches_);
    rounding.payload(value, sample_squares_);
  }
}

}  // namespace meshparity::reference
