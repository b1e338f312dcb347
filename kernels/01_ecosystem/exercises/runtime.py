def runtime(device, chip, model, source):
    """Which runtime to try first, by the table above. device is "server", "phone" or "desktop";
    chip is "nvidia", "apple" or "other"; model is "llm" or "small"; source is "pytorch" or "keras".
    """
    # TODO: write it
    # STARTER
    #| return "ONNX Runtime"
    # SOLUTION
    if chip == "apple" and device == "phone":
        return "Core ML"
    if device == "phone":
        return "ExecuTorch" if source == "pytorch" else "LiteRT"
    if device == "server" and chip == "nvidia":
        return "vLLM" if model == "llm" else "TensorRT"
    return "ONNX Runtime"
    # END
