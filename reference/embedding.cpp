#include "reference/embedding.hpp"

namespace meshparity::reference {

void embed_tokens(const std::vector<int>& tokens, const Matrix& table, Matrix& token_rows) {
  for (std::size_t p = 0; p < tokens.size(); ++p) {
    token_rows.row(static_cast<Eigen::Index>(p)) = table.row(tokens[p]);
  }
}

void add_positions(const Matrix& token_rows, const Matrix& positions, Rounding& rounding,
                   Matrix& sum) {
  sum = token_rows + positions;
  rounding.elementwise(sum);
}

}  // namespace meshparity::reference
