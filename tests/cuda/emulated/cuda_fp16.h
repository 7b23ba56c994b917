/* Empty: on a CPU half.h does the conversions. */
