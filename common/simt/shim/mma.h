#error "The simulator does not run tensor-core fragments (mma.h, nvcuda::wmma) yet."
