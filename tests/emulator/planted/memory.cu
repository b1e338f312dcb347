// Bounds, alignment, memory that is gone

// # reading past the end — out of bounds
// cause: OUTSIDE_ARRAY
// thread: 36
// args: zeros(100), zeros(64), 0
// grid: 2
int i = blockIdx.x * blockDim.x + threadIdx.x;  // two blocks share y: only reads of x matter here
«→if (i < 100)» y[i % 64] = x[i]; // !

// # writing before the start — out of bounds
// cause: OUTSIDE_ARRAY
x[(int)threadIdx.x - «1→0»] = 2; // !

// # writing over the neighbour array — out of bounds
// cause: OUTSIDE_ARRAY_COMPUTED
// thread: 61
x[threadIdx.x + «n→0»] = 1; // !
y[threadIdx.x] = 2;

// # a guard that compares another index — out of bounds
// cause: OUTSIDE_ARRAY_GUARDED
// thread: 63
int i = threadIdx.x + 1;
if («threadIdx.x→i» < 64) x[i] = 2; // !

// # an index below 0 in an unsigned variable — out of bounds
// cause: INDEX_BELOW_ZERO
x[threadIdx.x - «1→0»] = 2; // !

// # an array of numbers that is read as a table of pointers — out of bounds
// cause: NUMBERS_AS_ADDRESS
// parameters: float** x, float* y, int n
// args: ones(64), zeros(64), 0
y[threadIdx.x] = «x[n]→((float*)x)»[threadIdx.x]; // !

// # an address of the host — out of bounds
// cause: HOST_ADDRESS
float* p = «(float*)0x7f1234567000→x»;
p[threadIdx.x] = 1; // !

// # a pointer from nowhere — out of bounds
// cause: ADDRESS_NOT_ALLOCATED
float* p = «(float*)0x123456789000→x»;
p[threadIdx.x] = 1; // !

// # an overflow of a shared array into the next one — out of bounds
// cause: OUTSIDE_SHARED_ARRAY
// thread: 63
__shared__ float a[64], b[64];
b[threadIdx.x] = 1;
a[threadIdx.x + «1→0»] = 2; // !
__syncthreads();
y[threadIdx.x] = a[«63→threadIdx.x»] + b[threadIdx.x];

// # more dynamic shared memory than the launch gives — out of bounds
// cause: DYNAMIC_SHARED_TOO_SMALL
// thread: 60
// shared: 256
extern __shared__ float s[];
s[threadIdx.x« + 4→»] = 1; // !
y[threadIdx.x] = s[threadIdx.x« + 4→»];

// # dynamic shared memory of a launch that gives none — out of bounds
// cause: DYNAMIC_SHARED_TOO_SMALL
«extern __shared__ float s[];→__shared__ float s[64];»
s[threadIdx.x] = 1; // !
y[threadIdx.x] = s[threadIdx.x];

// # two arrays of dynamic shared memory that are one — out of bounds
// cause: SHARED_ARRAYS_OVERLAP
// level: warning
// thread: any
// shared: 512
// also: data race
extern __shared__ float a[]«, b[]→»;
«→float* b = a + 64;»
a[threadIdx.x] = 1; // ?
b[threadIdx.x] = 2; // !
y[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];

// # an overflow of a local array — out of bounds
// cause: OUTSIDE_ARRAY_GUARDED
// args: zeros(64), zeros(64), 4
float a[4] = {1, 2, 3, 4};
for (int i = 0; i < n; ++i) a[«2 * i→i»] += x[i]; // !
y[threadIdx.x] = a[n % 4];

// # a misaligned vector load — misaligned access
// cause: VECTOR_MISALIGNED
float4 v = *(float4*)(x + «1→4»); // !
y[threadIdx.x] = v.x + v.y * v.z + v.w;

// # a null pointer — null pointer
// cause: NULL_POINTER
// args: null(), zeros(64), 3
«x→y»[threadIdx.x] = 1; // !

// # an array that was freed before the launch — use after free
// cause: ARRAY_FREED
// parameters: float* x, float* y, unsigned long long old
// args: zeros(64), zeros(64), freed()
y[threadIdx.x] = «((float*)old)→x»[threadIdx.x]; // !

// # device memory used after free() — use after free
// cause: ARRAY_FREED
float* p = (float*)malloc(16);
p[1] = x[threadIdx.x];
«free(p);→»
y[threadIdx.x] = p[1]; // !
«→free(p);»

// # free() of an address that malloc() did not return — use after free
// cause: NOT_FROM_MALLOC
char* p = (char*)malloc(16);
free(p« + 8→»); // !

// # device memory freed twice — use after free
// cause: FREED_TWICE
void* p = malloc(16);
free(p);
«free(p); // !→»
