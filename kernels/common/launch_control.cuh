// Cluster launch control: a cluster that runs asks for the work of one that hasn't started. Sections
// of the PTX manual: "clusterlaunchcontrol.try_cancel" and ".query_cancel". sm_100; no GPU of that
// kind has run them yet.

#pragma once

// clusterlaunchcontrol.try_cancel with .multicast::cluster::all: ask to cancel a cluster that hasn't
// started. The answer, 16 bytes, comes to the same place in each block of the asking cluster, and
// counts towards the mbarrier at the same place there.
__device__ inline void ask_for_cluster(unsigned answer, unsigned barrier)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(answer),
                 "r"(barrier)
                 : "memory");
}

// The same for a block on its own.
__device__ inline void ask_for_block(unsigned answer, unsigned barrier)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".b128 [%0], [%1];" ::"r"(answer),
                 "r"(barrier)
                 : "memory");
}

// clusterlaunchcontrol.query_cancel: x of the first block of the cluster that was cancelled, or -1
// if none was. No GPU promises anything of the index where none was, so it's read under a guard.
__device__ inline int cancelled_block(unsigned answer)
{
    int block;
    asm volatile("{\n"
                 ".reg .b128 words;\n"
                 ".reg .pred cancelled;\n"
                 "ld.shared.b128 words, [%1];\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 cancelled, words;\n"
                 "mov.b32 %0, -1;\n"
                 "@cancelled clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, "
                 "words;\n"
                 "}"
                 : "=r"(block)
                 : "r"(answer)
                 : "memory");
    return block;
}
