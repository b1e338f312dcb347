def losses_after(model, optimiser, images, labels, tests, answers, orders, batch):
    """Train for an epoch with each of `orders`; the mean loss of the tests after each of them.

    model is a network as PyTorch has it: model.loss(images, labels) is the mean loss of a batch,
    with .backward() and .item(); model.train() and model.eval() change how it treats one. Each of
    orders holds the number of every image once, and the batches are taken along it; what does not
    fill a last batch is left out. The tests, too many for one call, go in batches as well, and
    every one of them counts.
    """
    # BUG
    #| found = []
    #| model.train()
    #| for order in orders:
    #|     for first in range(0, len(order) - batch + 1, batch):
    #|         chosen = order[first : first + batch]
    #|         loss = model.loss(images[chosen], labels[first : first + batch])
    #|         loss.backward()
    #|         optimiser.step()
    #|     model.eval()
    #|     parts = []
    #|     for first in range(0, len(tests), batch):
    #|         some = slice(first, first + batch)
    #|         parts.append(model.loss(tests[some], answers[some]).item())
    #|     found.append(sum(parts) / len(parts))
    #| return found
    # SOLUTION
    found = []
    for order in orders:
        model.train()
        for first in range(0, len(order) - batch + 1, batch):
            chosen = order[first : first + batch]
            optimiser.zero_grad()
            loss = model.loss(images[chosen], labels[chosen])
            loss.backward()
            optimiser.step()
        model.eval()
        total = 0.0
        for first in range(0, len(tests), batch):
            some = slice(first, first + batch)
            total += model.loss(tests[some], answers[some]).item() * len(tests[some])
        found.append(total / len(tests))
    return found
    # END
