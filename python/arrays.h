// Vectors as numpy arrays.

#ifndef KVSIM_PYTHON_ARRAYS_H_
#define KVSIM_PYTHON_ARRAYS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <utility>
#include <vector>

namespace kvsim {

// The vector's memory as an array of shape (values.size(),), which owns it from
// then on: nothing is copied.
template <typename T>
pybind11::array_t<T> ArrayOf(std::vector<T>&& values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  const auto size = static_cast<pybind11::ssize_t>(owned->size());
  const T* const data = owned->data();
  const pybind11::capsule owner(owned.get(), [](void* vector) {
    delete static_cast<std::vector<T>*>(vector);
  });
  owned.release();
  return pybind11::array_t<T>(size, data, owner);
}

}  // namespace kvsim

#endif  // KVSIM_PYTHON_ARRAYS_H_
