QUOTES = {"takes sixteen times the wavefronts it needs": lambda: 32 / 2}  # 06.predict_strides
GIVEN = ("At most 1.1 times the least there can be",)
