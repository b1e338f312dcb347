"""How tests launch the kernels of chapter 07 that no benchmark measures, against float64."""

from launchers import Chapter

CHAPTER = Chapter("07_pytorch_extensions")
kernel = CHAPTER.kernel


# --- 01: activation ---


# --- 02: micrograd ---


# --- 03: normalisation ---


# --- 04: attention ---
