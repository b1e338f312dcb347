"""How tests launch the kernels of chapter 05 that no benchmark measures."""

from launchers import Chapter

CHAPTER = Chapter("05_cuda_libraries")
kernel = CHAPTER.kernel
