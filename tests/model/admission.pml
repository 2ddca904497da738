/* Rule A3 on a machine with store buffers: admission against installing. See README.md.
 *
 * Two callers admit, the agent's thread installs a lower limit and then reports what is in flight.
 * An access that is sequentially consistent happens at once. A relaxed one may wait in a store
 * buffer and become visible to others after later loads of its own thread.
 */

#define OLD 2
#define NEW 0

byte limit = OLD;  /* the admission word, as memory has it */
byte calls;        /* the calls counted, as memory has them */
byte admitted;     /* what is really in flight */
byte reported = OLD; /* the most that the controller still counts, max(limit, calls reported) */

proctype Caller() {
  byte seen;   /* the limit it loaded */
  byte count;  /* calls in flight, this one included, as its addition returned them */
  bit pending; /* its addition is not visible yet */

#if defined(MUTANT_A3_LOAD_FIRST)
  seen = limit;
#endif
#if defined(MUTANT_A3_RELAXED_ENTER)
  atomic { count = calls + 1; pending = 1 };
#else
  atomic { calls++; count = calls };
#endif
#if !defined(MUTANT_A3_LOAD_FIRST)
  seen = limit;
#endif
  if
  :: count <= seen -> atomic { admitted++; assert(admitted <= reported) }
  :: else -> seen = 255
  fi;
  atomic {
    if
    :: pending -> calls++; pending = 0
    :: else
    fi
  };
  atomic {
    if
    :: seen != 255 -> admitted--
    :: else
    fi
  };
  calls--
}

proctype Agent() {
  byte seen;
  bit buffered;

#if defined(MUTANT_A3_READ_FIRST)
  seen = calls;
  limit = NEW;
#elif defined(MUTANT_A3_RELAXED_STORE)
  buffered = 1; /* the store waits in the buffer while the load goes ahead */
  if
  :: atomic { limit = NEW; buffered = 0 }; seen = calls
  :: seen = calls; atomic { limit = NEW; buffered = 0 }
  fi;
#else
  limit = NEW;
  seen = calls;
#endif
  /* The controller receives the report, and gives the rest to others. */
  atomic {
    reported = (seen > NEW -> seen : NEW);
    assert(admitted <= reported)
  }
}

init {
  atomic {
    run Caller();
    run Caller();
    run Agent()
  }
}
