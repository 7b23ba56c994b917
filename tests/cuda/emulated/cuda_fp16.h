/* Nothing of it is used on a CPU: half.h converts. */
