// Programs that do not end as they should

// # a loop without an end — endless loop
// cause: CONDITION_NEVER_CHANGES
// thread: any
// budget: 20_000
int i = 0;
while (i < n) { // !
    x[threadIdx.x] += 1.0f;
    «→++i;»
}

// # a spin on a variable that the compiler reads once — endless loop
// cause: CONDITION_NEVER_CHANGES
// thread: any
// budget: 20_000
__shared__ int turn;
turn = 0;
__syncthreads();
«while (turn < threadIdx.x) { } // !→»
y[threadIdx.x] = turn;

// # a spin on a flag that nobody raises — endless loop
// cause: VALUES_COME_BACK
// thread: 32
// budget: 20_000
volatile float* flag = y;
«→if (threadIdx.x == 0) flag[0] = 1;»
while (threadIdx.x == 32 && flag[0] == 0) { } // !

// # a failed assertion — assertion failed
// cause: ASSERTION_FAILED
// thread: 5
// args: numbers(64), zeros(64), 0
assert(x[threadIdx.x] < «5→99»); // !
y[threadIdx.x] = 1;

// # a trap — trap
// cause: TRAP
// thread: 7
if (threadIdx.x == «7→99») __trap(); // !
y[threadIdx.x] = 1;
