# GPUs: kernels, backend and workers where the toolkit is asked for (MESHPARITY_CUDA) and found; the
# tests that need its headers alone wherever these are.
find_package(CUDAToolkit QUIET)
set(meshparity_cuda OFF)
set(meshparity_no_cuda "configured without MESHPARITY_CUDA: use the preset cuda")
if(MESHPARITY_CUDA AND NOT CUDAToolkit_FOUND)
  set(meshparity_no_cuda "no CUDA toolkit was found, install it or set CUDAToolkit_ROOT")
elseif(MESHPARITY_CUDA AND CUDAToolkit_VERSION VERSION_LESS 12.4)
  set(meshparity_no_cuda "CUDA toolkit ${CUDAToolkit_VERSION} is too old: kernels need C++20, 12.4")
elseif(MESHPARITY_CUDA)
  set(meshparity_cuda ON)
endif()

# What g++ compiles, with the toolkit's headers.
set(meshparity_cuda_sources
  backend/cuda_backend.cpp backend/cuda_checked_device.cpp backend/cuda_device.cpp
  backend/cuda_product.cpp backend/kernel_checks.cpp check_kernels.cpp
  comm/cuda_staged_comm.cpp cuda/cuda_calls.cpp cuda/cuda_stream.cpp cuda/cuda_timer.cpp train_on_cuda.cpp
  worker/cuda_jobs.cpp)
set(meshparity_gpu_times bench/gpu_steps.cpp bench/gpu_times.cpp bench/gpu_work.cpp)
set(meshparity_nccl_sources
  comm/nccl_buffers.cpp comm/nccl_comm.cpp comm/nccl_group.cpp comm/nccl_puts.cpp)

if(meshparity_cuda)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: machines with GPUs are built for sm_80 and sm_90")
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE} CACHE FILEPATH "nvcc")
  set(CMAKE_CUDA_ARCHITECTURES 80 90-real)  # newer GPUs compile the former's text themselves
  enable_language(CUDA)
  add_library(parallel_impl_cuda STATIC
    ${meshparity_cuda_sources} backend/cuda_launch_double.cu backend/cuda_launch_float.cu)
  target_link_libraries(parallel_impl_cuda PUBLIC parallel_impl CUDA::cudart CUDA::cublas fmt::fmt)
  # CMake 3.25 believes that CUDA ends at C++17. Products and sums round apart, as on the host. Code
  # for GPUs is compressed: three programs hold it, and the bundle of ci/gpu has a limit.
  target_compile_options(parallel_impl_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --fmad=false -Xfatbin=-compress-all -Werror=all-warnings
      -Xcompiler=-Wall,-Wextra,-Wshadow,-Werror,-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  add_executable(meshparity-worker-cuda worker_cuda_main.cpp cuda/cuda_machine.cpp)
  target_link_libraries(meshparity-worker-cuda PRIVATE parallel_impl_cuda)
  add_executable(meshparity-check-kernels check_kernels_main.cpp)
  target_link_libraries(meshparity-check-kernels PRIVATE parallel_impl_cuda)
  add_executable(meshparity-gpu-times
    bench/gpu_times_main.cpp ${meshparity_gpu_times} cuda/cuda_machine.cpp)
  target_link_libraries(meshparity-gpu-times PRIVATE parallel_impl_cuda)
  add_dependencies(meshparity-workers
    meshparity-worker-cuda meshparity-check-kernels meshparity-gpu-times)
  find_library(MESHPARITY_NCCL nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  find_path(MESHPARITY_NCCL_HEADERS nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  if(MPI_C_FOUND AND MESHPARITY_NCCL AND MESHPARITY_NCCL_HEADERS)
    add_executable(meshparity-worker-cuda-mpi worker_cuda_mpi_main.cpp worker/nccl_case.cpp
      ${meshparity_nccl_sources})
    target_include_directories(meshparity-worker-cuda-mpi SYSTEM PRIVATE ${MESHPARITY_NCCL_HEADERS})
    target_link_libraries(meshparity-worker-cuda-mpi PRIVATE parallel_impl_cuda parallel_impl_mpi
      ${MESHPARITY_NCCL})
    add_dependencies(meshparity-workers meshparity-worker-cuda-mpi)
  else()
    message(STATUS "cuda-mpi and cuda-nccl are not built: they need MPI and NCCL")
  endif()
else()
  message(STATUS "Machines with GPUs are not built: ${meshparity_no_cuda}")
endif()

# That each kernel body is in the libraries, for each machine and scalar type.
meshparity_test(kernels_linked_test unit SOURCES backend/kernels_linked_test.cpp LIBS fmt::fmt)
target_compile_definitions(kernels_linked_test PRIVATE
  MESHPARITY_NM="${CMAKE_NM}"
  MESHPARITY_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/kernels"
  MESHPARITY_HOST_LIBRARY="$<TARGET_FILE:parallel_impl>"
  MESHPARITY_CUDA_LIBRARY="$<$<TARGET_EXISTS:parallel_impl_cuda>:$<TARGET_FILE:parallel_impl_cuda>>"
  MESHPARITY_NO_CUDA="${meshparity_no_cuda}")
add_dependencies(kernels_linked_test parallel_impl)
if(meshparity_cuda)
  add_dependencies(kernels_linked_test parallel_impl_cuda)
endif()

# The same sources over a GPU that is none: link-time fakes of the functions they use.
find_path(meshparity_cuda_headers cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(meshparity_cuda_headers)
  add_library(parallel_impl_fake_cuda STATIC
    ${meshparity_cuda_sources} backend/fake_launch.cpp
    cuda/fake_cublas.cpp cuda/fake_cuda.cpp cuda/fake_gpu.cpp cuda/fake_tf32.cpp)
  target_include_directories(parallel_impl_fake_cuda SYSTEM PUBLIC ${meshparity_cuda_headers})
  target_link_libraries(parallel_impl_fake_cuda PUBLIC parallel_impl fmt::fmt)
  target_compile_options(parallel_impl_fake_cuda PRIVATE -ffp-contract=off)
  meshparity_test(cuda_calls_test ranks
    SOURCES backend/cuda_backend_test.cpp bench/gpu_times_test.cpp ${meshparity_gpu_times}
      cuda/cuda_machine.cpp comm/cuda_suite.cpp comm/transport_failure_test.cpp
      comm/transport_test.cpp check_kernels_test.cpp train_on_cuda_test.cpp worker/cuda_jobs_test.cpp worker/small_case.cpp
    LIBS parallel_impl_fake_cuda parallel_impl_case_run)
  target_compile_definitions(cuda_calls_test PRIVATE
    MESHPARITY_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/kernels"
    MESHPARITY_MODELS="${PROJECT_SOURCE_DIR}/fixtures/models")
  # The worker for GPUs over that: for tests of the driver, and with TF32 rounded too coarsely.
  add_executable(fake-gpu-worker EXCLUDE_FROM_ALL worker_cuda_main.cpp cuda/cuda_machine.cpp)
  target_link_libraries(fake-gpu-worker PRIVATE parallel_impl_fake_cuda)
  add_executable(coarse-gpu-worker EXCLUDE_FROM_ALL worker_cuda_main.cpp cuda/cuda_machine.cpp
    cuda/fake_tf32_coarse.cpp)
  target_link_libraries(coarse-gpu-worker PRIVATE parallel_impl_fake_cuda)
  find_path(meshparity_nccl_headers nccl.h HINTS ${meshparity_cuda_headers})
  if(meshparity_nccl_headers)
    meshparity_test(nccl_calls_test ranks
      SOURCES ${meshparity_nccl_sources} comm/nccl_comm_test.cpp
        comm/nccl_failure_test.cpp comm/nccl_fake.cpp
      LIBS parallel_impl_fake_cuda)
    target_include_directories(nccl_calls_test SYSTEM PRIVATE ${meshparity_nccl_headers})
  else()
    add_test(NAME NcclCalls COMMAND ${CMAKE_COMMAND} -E echo
      "Skipped: no header of NCCL here; install libnccl-dev")
    set_tests_properties(NcclCalls PROPERTIES LABELS ranks
      SKIP_REGULAR_EXPRESSION "Skipped: no header")
  endif()
else()
  add_test(NAME CudaCalls COMMAND ${CMAKE_COMMAND} -E echo
    "Skipped: no headers of CUDA here; install the CUDA toolkit")
  set_tests_properties(CudaCalls PROPERTIES LABELS ranks SKIP_REGULAR_EXPRESSION "Skipped: no head")
endif()
