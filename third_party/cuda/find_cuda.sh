#!/bin/sh
# Prints the folder of CUDA and that of its static runtime, a line each; nothing where
# nvcc, the runtime's headers and libcudart_static.a are not all there. Looks in
# $CUDA_HOME, beside the nvcc of the PATH, and in NVIDIA's own place.
for root in "${CUDA_HOME:-}" "$(dirname "$(dirname "$(command -v nvcc)")")" /usr/local/cuda; do
  if [ -x "$root/bin/nvcc" ] && [ -f "$root/include/cuda_runtime_api.h" ]; then
    for lib in lib64 lib targets/x86_64-linux/lib; do
      if [ -f "$root/$lib/libcudart_static.a" ]; then
        echo "$root"
        echo "$root/$lib"
        exit 0
      fi
    done
  fi
done
