/* The quota protocol: two agents, one or two reigns, one dependency. See README.md.
 *
 * A configuration is chosen by macros:
 *   QUOTA      calls that may be in flight
 *   AGENTS     2, or 1: then the other one is whatever leaves it room for any limit
 *   REIGNS     1: one controller, no store.  2: a second one takes over; the first may not notice
 *   GRANTS     how many grants a reign can send to an agent (seq 1 .. GRANTS)
 *   SYNCS      how many syncs an agent can send (n = 1 .. SYNCS; the first one registers it)
 *   PASSIVE    the second controller takes over, reads and holds, but grants nothing
 *   UNCONFIRMED  controllers also answer without confirmation (C7)
 *   EVERY_CALL each call begins and ends in a step of its own
 *   LEAVING    agents may leave, CRASH: they may crash
 *   UNIQUE     both agents are processes of one unique name, one after the other
 * A mutant is chosen by -DMUTANT_<rule>_<what it does>.
 *
 * Every step is one d_step, so a state is what all may see between two of them. All messages stay
 * in the network for ever and can be received at any time, repeatedly, in any order, or never.
 */

#ifndef QUOTA
#define QUOTA 2
#endif
#ifndef AGENTS
#define AGENTS 2
#endif
#ifndef REIGNS
#define REIGNS 1
#endif
#ifndef GRANTS
#define GRANTS 3
#endif
#ifndef SYNCS
#define SYNCS 3
#endif
/* REIGNS * GRANTS, as one digit for the lists at the end. */
#if REIGNS == 1
#define STAMPS_COUNT GRANTS
#elif GRANTS == 1
#define STAMPS_COUNT 2
#elif GRANTS == 2
#define STAMPS_COUNT 4
#elif GRANTS == 3
#define STAMPS_COUNT 6
#else
#define STAMPS_COUNT 8
#endif

/* Ticks of true time. The agents' clocks are as slow as allowed, so their leases last DRIFT longer;
 * the controllers' are exact and pay for it in their holds. A call outlives CALL_DEADLINE tick(s):
 * it is admitted with one more, because the first tick may come at once. */
#define DRIFT 1
#define CALL_DEADLINE 1
#define LIMIT_LEASE (1 + DRIFT)
#define BASE_LEASE (2 + DRIFT)
#if defined(MUTANT_C1_NO_IN_FLIGHT)
#define LIMIT_HOLD LIMIT_LEASE
#define BASE_HOLD BASE_LEASE
#elif defined(MUTANT_C3_NO_DRIFT)
#define LIMIT_HOLD (LIMIT_LEASE - DRIFT + CALL_DEADLINE)
#define BASE_HOLD (BASE_LEASE - DRIFT + CALL_DEADLINE)
#else
#define LIMIT_HOLD (LIMIT_LEASE + CALL_DEADLINE)
#define BASE_HOLD (BASE_LEASE + CALL_DEADLINE)
#endif
#if defined(MUTANT_C11_FREE_AT_ONCE)
#define FENCE 1
#else
#define FENCE (CALL_DEADLINE + 1)
#endif
#define BASE 1 /* the base of every grant, if its limit allows */

/* ------------------------------------------------------------------------------------- agents */

#define RUNNING 0
#define DRAINING 1 /* admits nothing any more */
#define RELEASED 2 /* has sent DELETE */
#define DEAD 3     /* its calls run on at the provider */
#define UNBORN 4

typedef Agent {
  unsigned mode : 3;
  unsigned n : 3;     /* newest sync sent */
  unsigned grant : 4; /* installed; 0 is none */
  unsigned young : 2; /* calls in flight with more than one tick to go */
  unsigned old : 2;   /* the others */
#if defined(MUTANT_A1_LEASE_FROM_RECEIPT)
  unsigned life : 2;
#endif
#if defined(MUTANT_A5_ACK_FIRST)
  unsigned told : 4; /* the grant that syncs name */
#endif
};
Agent agent[AGENTS];

#define SYNC(a, n) ((a) * (SYNCS + 1) + (n))
byte sync[AGENTS * (SYNCS + 1)]; /* what sync n says: installed grant + 16 * calls in flight */
byte life[AGENTS * (SYNCS + 1)]; /* what is left of the base lease of a grant anchored at sync n */

#define IN_FLIGHT(a) (agent[a].young + agent[a].old)

/* ------------------------------------------------------------------------------------- grants */

/* Stamp (epoch, seq) is the number (epoch - 1) * GRANTS + seq, and 0 is none. Each agent sees numbers
 * of its own: how they interleave with those of the other one is of no consequence. */
#define STAMPS (REIGNS * GRANTS)
#define FIRST(c) (((c) - 1) * GRANTS + 1)
#define LAST(c) ((c) * GRANTS)
#define OF_REIGN(g, c) ((g) >= FIRST(c) && (g) <= LAST(c))
#define SEQ(g) ((g) == 0 -> 0 : ((g) - 1) % GRANTS + 1)

#define UNUSED 0
#define DECIDED 1 /* its bound is being written */
#define SENT 2
#define PAST 3 /* nobody would install it any more */

typedef Grant {
  unsigned state : 2;
  unsigned limit : 2; /* what the message says */
  unsigned base : 1;
  unsigned anchor : 3;
  unsigned booked_limit : 2; /* what the books of its reign still count */
  unsigned booked_base : 1;
};
Grant grant[AGENTS * (STAMPS + 1)];
#define GRANT(a, g) grant[(a) * (STAMPS + 1) + (g)]
#define INSTALLED(a) GRANT(a, agent[a].grant)

#if defined(MUTANT_A1_LEASE_FROM_RECEIPT)
#define LIFE(a) agent[a].life
#else
#define LIFE(a) life[SYNC(a, INSTALLED(a).anchor)]
#endif
#define LIMIT(a) INSTALLED(a).limit
#define STEP(a) \
  (LIFE(a) > BASE_LEASE - LIMIT_LEASE -> LIMIT(a) : (LIFE(a) > 0 -> INSTALLED(a).base : 0))

/* A4: what an agent may have in flight is a step function of its own clock. */
#if defined(MUTANT_A4_LOCAL_CONSTANT)
#define ALLOWED(a) (LIFE(a) > 0 -> STEP(a) : (agent[a].n > 0 -> 1 : 0))
#elif defined(MUTANT_A4_LIMIT_STAYS)
#define ALLOWED(a) (LIFE(a) > 0 -> LIMIT(a) : 0)
#else
#define ALLOWED(a) STEP(a)
#endif
#define IN_FORCE(a) (agent[a].mode == RUNNING -> ALLOWED(a) : 0)

/* -------------------------------------------------------------------------- controllers, store */

typedef Book { /* what a reign knows of a session */
  unsigned known : 1;
  unsigned n : 3;         /* newest sync accepted */
  unsigned held : 1;      /* it waits for its answer */
  unsigned confirmed : 3; /* newest sync for which leadership was confirmed */
  unsigned reported : 4;  /* grant last reported as installed */
  unsigned in_flight : 2;
  unsigned inherited_limit : 2;
  unsigned inherited_base : 1;
  unsigned limit_hold : 3;
  unsigned base_hold : 3;
  unsigned fence : 2;
};
Book book[AGENTS * REIGNS];
#define BOOK(c, a) book[((c) - 1) * AGENTS + (a)]

typedef Bound {
  unsigned limit : 2;
  unsigned base : 1;
};
bit leader_is_second; /* the epoch in the store, less one */
#define LEADER (1 + leader_is_second)
bit shared_name;
#if REIGNS > 1
Bound durable[AGENTS];
Bound pending[2 * AGENTS]; /* the write under way of each reign */
#define PENDING(c, a) pending[((c) - 1) * AGENTS + (a)]
byte writing[2]; /* the grant that waits for it; 0 is no write */
byte writer[2];  /* the agent it is for */
#if defined(MUTANT_C9_READ_FIRST)
bit has_read;
Bound read[AGENTS];
#endif
#endif

/* ---------------------------------------------------------------------------------- the books */

hidden byte i;
hidden byte j;
hidden byte top_limit[AGENTS];
hidden byte top_base[AGENTS];
hidden byte reserved[AGENTS];
hidden byte room;
hidden byte next;
hidden byte lowest;

#define RAISE_TO(x, v) \
  if               \
  :: (v) > x -> x = v \
  :: else          \
  fi
#define CAP_AT(x, v)  \
  if               \
  :: (v) < x -> x = v \
  :: else          \
  fi

/* The reservations of reign c: R of both sessions. */
inline Reserve(c) {
  i = 0;
  do
  :: i < AGENTS ->
     top_limit[i] = BOOK(c, i).inherited_limit;
     top_base[i] = BOOK(c, i).inherited_base;
     j = FIRST(c);
     do
     :: j <= LAST(c) ->
#if defined(MUTANT_C1_FREE_ON_SEND)
        if
        :: GRANT(i, j).state != UNUSED ->
           top_limit[i] = GRANT(i, j).booked_limit;
           top_base[i] = GRANT(i, j).booked_base
        :: else
        fi;
#else
        RAISE_TO(top_limit[i], GRANT(i, j).booked_limit);
        RAISE_TO(top_base[i], GRANT(i, j).booked_base);
#endif
        j++
     :: else -> break
     od;
     reserved[i] = top_limit[i];
#if defined(MUTANT_C3_REVIVAL)
     if
     :: BOOK(c, i).limit_hold == 0 -> reserved[i] = top_base[i]
     :: else -> RAISE_TO(reserved[i], BOOK(c, i).in_flight)
     fi;
#elif !defined(MUTANT_C1_NO_IN_FLIGHT) && !defined(MUTANT_C1_FREE_ON_SEND)
     RAISE_TO(reserved[i], BOOK(c, i).in_flight);
#endif
     i++
  :: else -> break
  od
}

/* C3: what a hold has ended stays ended. */
inline EndLimits(c, a) {
  j = FIRST(c);
  BOOK(c, a).inherited_limit = BOOK(c, a).inherited_base;
  next = BOOK(c, a).inherited_base;
  do
  :: j <= LAST(c) ->
     GRANT(a, j).booked_limit = GRANT(a, j).booked_base;
     RAISE_TO(next, GRANT(a, j).booked_base);
     j++
  :: else -> break
  od;
  CAP_AT(BOOK(c, a).in_flight, next);
  j = 0
}

inline EndAll(c, a) {
  j = FIRST(c);
  BOOK(c, a).inherited_limit = 0;
  BOOK(c, a).inherited_base = 0;
  BOOK(c, a).in_flight = 0;
  do
  :: j <= LAST(c) ->
     GRANT(a, j).booked_limit = 0;
     GRANT(a, j).booked_base = 0;
     j++
  :: else -> break
  od
}

inline Drop(c, a) {
  EndAll(c, a);
  BOOK(c, a).known = 0;
  BOOK(c, a).n = 0;
  BOOK(c, a).held = 0;
  BOOK(c, a).confirmed = 0;
  BOOK(c, a).reported = 0;
  BOOK(c, a).limit_hold = 0;
  BOOK(c, a).base_hold = 0;
  BOOK(c, a).fence = 0
}

/* -------------------------------------------------------------------------- what must be true */

#if AGENTS > 1
#define SUM(F) (F(0) + F(1))
#define BOTH_OF(F) (F(0) && F(1))
#else
#define SUM(F) F(0)
#define BOTH_OF(F) F(0)
#endif
#define R(a) reserved[a]
#define COVERS(a) (IN_FORCE(a) <= reserved[a] && IN_FLIGHT(a) <= reserved[a])

hidden byte i1;
hidden byte i2;
hidden byte i3;
hidden byte i4;

inline Check() {
  Reserve(LEADER);
  i1 = SUM(IN_FORCE) <= QUOTA;
  i2 = SUM(IN_FLIGHT) <= QUOTA;
  i3 = BOTH_OF(COVERS);
  i4 = SUM(R) <= QUOTA;
  assert(i1);
  assert(i2);
  assert(i3);
  assert(i4)
}

/* Forgets what cannot matter any more, so that states that differ in nothing else are one. */
#if !defined(MUTANT_A2_ANY_ORDER) && !defined(MUTANT_A2_NO_EPOCH) && \
    !defined(MUTANT_A5_ACK_FIRST) && !defined(MUTANT_C2_OLD_SYNC)
#define FORGET
#endif

/* The oldest anchor that a grant to come can have. */
#define SPENT(c, a) (GRANT(a, LAST(c)).state != UNUSED)
#define LOWEST_ANCHOR(c, a)        \
  (SPENT(c, a) -> SYNCS + 1 :      \
   (BOOK(c, a).confirmed > 0 -> BOOK(c, a).confirmed : BOOK(c, a).n))

#define GONE(a) (agent[a].mode == RELEASED || agent[a].mode == DEAD)

inline Forget(a) {
#if defined(FORGET)
  if
  :: GONE(a) -> agent[a].grant = 0
  :: else
  fi;
  /* Grants that are older than the installed one, and steps that have ended. */
  j = 1;
  do
  :: j <= STAMPS ->
     if
     :: GRANT(a, j).state == SENT && (j < agent[a].grant || GONE(a)) ->
        GRANT(a, j).state = PAST;
        GRANT(a, j).limit = 0;
        GRANT(a, j).base = 0
     :: GRANT(a, j).state == SENT && j == agent[a].grant && IN_FLIGHT(a) == 0 &&
        life[SYNC(a, GRANT(a, j).anchor)] == 0 ->
        GRANT(a, j).limit = 0;
        GRANT(a, j).base = 0
     :: (GRANT(a, j).state == SENT || GRANT(a, j).state == DECIDED) && j > agent[a].grant &&
        life[SYNC(a, GRANT(a, j).anchor)] == 0 ->
        GRANT(a, j).limit = 0;
        GRANT(a, j).base = 0
     :: else
     fi;
     if
     :: GRANT(a, j).limit == 0 && GRANT(a, j).state != DECIDED -> GRANT(a, j).anchor = 0
     :: else
     fi;
     j++
  :: else -> break
  od;
  /* Syncs that are not newer than what every reign has accepted. */
  lowest = BOOK(1, a).n;
  next = LOWEST_ANCHOR(1, a);
#if REIGNS > 1 && !defined(PASSIVE)
  CAP_AT(lowest, BOOK(2, a).n);
  CAP_AT(next, LOWEST_ANCHOR(2, a));
#endif
  if
  :: REIGNS == 1 && !BOOK(1, a).known && agent[a].mode == RELEASED -> lowest = SYNCS
  :: else
  fi;
  i = 1;
  do
  :: i <= lowest -> sync[SYNC(a, i)] = 0; i++
  :: else -> break
  od;
  /* Anchors that no grant names or will name. */
  i = 1;
  do
  :: i <= SYNCS ->
     if
     :: life[SYNC(a, i)] > 0 && (i < next || GONE(a)) ->
        j = 1;
        do
        :: j <= STAMPS && GRANT(a, j).anchor != i -> j++
        :: else -> break
        od;
        if
        :: j > STAMPS -> life[SYNC(a, i)] = 0
        :: else
        fi
     :: else
     fi;
     i++
  :: else -> break
  od;
  ForgetBook(1, a);
#if REIGNS > 1
  ForgetBook(2, a)
#endif
#else
  skip
#endif
}

inline ForgetBook(c, a) {
  if
  :: SPENT(c, a) ->
     BOOK(c, a).held = 0;
     BOOK(c, a).confirmed = 0;
     BOOK(c, a).reported = 0
  :: else
  fi;
  if
  :: !BOOK(c, a).held && reserved[a] == 0 && LEADER == c ->
     BOOK(c, a).limit_hold = 0;
     BOOK(c, a).base_hold = 0
  :: else
  fi
}

inline Done() {
  Fill(0);
#if AGENTS > 1
  Fill(1);
#endif
  Check();
  Forget(0);
#if AGENTS > 1
  Forget(1);
#endif
  who = 0;
  reign = 0;
  what = 0
}

/* --------------------------------------------------------------------------- steps of an agent */

#if defined(MUTANT_A5_ACK_FIRST)
#define NAMED(a) agent[a].told
#else
#define NAMED(a) agent[a].grant
#endif
#define NAMED_LIMIT(a) GRANT(a, NAMED(a)).limit

/* Calls. With -DEVERY_CALL each call begins and ends in a step of its own. Without, an agent has as
 * many calls in flight as it may, all as young as can be, and ends them when it is about to say
 * that it has fewer: whatever an agent with fewer or older calls can do, this one can do too.
 * README.md says why no breach is missed. */
#define ADMIT(a)                                              \
  :: d_step {                                                 \
       IN_FLIGHT(a) < IN_FORCE(a) ->                          \
       agent[a].young++;                                      \
       printf("agent %d admits: %d\n", a, IN_FLIGHT(a))                                                   \
     }

#define END_CALL(a, age)                                          \
  :: d_step {                                                     \
       agent[a].age > 0 ->                                        \
       agent[a].age--;                                            \
       printf("a call of agent %d ends: %d\n", a, IN_FLIGHT(a))                                                   \
     }

#define END_YOUNG(a) END_CALL(a, young)
#define END_OLD(a) END_CALL(a, old)

/* Ends the older calls and admits new ones for them. */
#define RENEW_CALLS(a)                                                            \
  :: d_step {                                                                     \
       IN_FLIGHT(a) > IN_FORCE(a) && agent[a].young < IN_FORCE(a) ->              \
       agent[a].young = IN_FORCE(a);                                              \
       agent[a].old = 0;                                                          \
       printf("agent %d ends calls and admits others: %d\n", a, IN_FLIGHT(a))                                                   \
     }

inline Fill(a) {
#if !defined(EVERY_CALL)
  if
  :: IN_FLIGHT(a) <= IN_FORCE(a) ->
     agent[a].young = IN_FORCE(a);
     agent[a].old = 0
  :: else
  fi
#else
  skip
#endif
}

inline EndCallsTo(a, calls) {
  do
  :: IN_FLIGHT(a) > calls && agent[a].old > 0 -> agent[a].old--
  :: IN_FLIGHT(a) > calls && agent[a].old == 0 -> agent[a].young--
  :: else -> break
  od
}

/* A1: the lease of whatever answers this sync starts now. Agents are alike: 0 speaks first. */
inline SendSync(a, calls) {
  agent[a].n++;
  sync[SYNC(a, agent[a].n)] = NAMED(a) + 16 * (calls);
  life[SYNC(a, agent[a].n)] = BASE_LEASE;
  printf("agent %d sends sync %d: grant %d, in force %d, in flight %d\n", a, agent[a].n, NAMED(a),
         IN_FORCE(a), IN_FLIGHT(a))
}

#define MAY_SYNC(a) \
  (agent[a].mode <= DRAINING && agent[a].n < SYNCS && FIRST_SPEAKER(a))
#if defined(UNIQUE)
#define FIRST_SPEAKER(a) true
#else
#define FIRST_SPEAKER(a) (a == 0 || agent[0].n > 0)
#endif

#if defined(EVERY_CALL)
#define SEND_SYNC(a)                  \
  :: d_step {                         \
       MAY_SYNC(a) ->                 \
       next = IN_FLIGHT(a);           \
       SendSync(a, next)                                                   \
     }
#else
/* Says that no more is in flight than was granted (how many less tells nobody anything), or that
   more is: one more, two more. */
#define SEND_SYNC(a)                                              \
  :: d_step {                                                     \
       MAY_SYNC(a) ->                                             \
       EndCallsTo(a, NAMED_LIMIT(a));                             \
       SendSync(a, 0)                                                   \
     }                                                            \
  SEND_SYNC_OVER(a, 1)                                            \
  SEND_SYNC_OVER(a, 2)
#define SEND_SYNC_OVER(a, more)                                   \
  :: d_step {                                                     \
       MAY_SYNC(a) && IN_FLIGHT(a) >= NAMED_LIMIT(a) + more ->    \
       next = NAMED_LIMIT(a) + more;                              \
       EndCallsTo(a, next);                                       \
       SendSync(a, next)                                                   \
     }
#endif

/* A2: only what has a larger stamp, epoch first. */
#if defined(MUTANT_A2_ANY_ORDER)
#define NEWER(g, a) ((g) != agent[a].grant)
#elif defined(MUTANT_A2_NO_EPOCH)
#define NEWER(g, a) (SEQ(g) > SEQ(agent[a].grant))
#elif defined(MUTANT_A5_ACK_FIRST)
#define NEWER(g, a) ((g) > agent[a].told)
#else
#define NEWER(g, a) ((g) > agent[a].grant)
#endif

#define INSTALL(a, g) \
  :: GRANT(a, g).state == SENT && agent[a].mode == RUNNING && NEWER(g, a) -> what = g

#if defined(MUTANT_A1_LEASE_FROM_RECEIPT)
#define INSTALLING(a, g) \
  agent[a].grant = g;    \
  agent[a].life = BASE_LEASE
#elif defined(MUTANT_A5_ACK_FIRST)
#define INSTALLING(a, g) agent[a].told = g
#else
#define INSTALLING(a, g) agent[a].grant = g
#endif

inline Install(a, g) {
  INSTALLING(a, g);
  printf("agent %d gets grant %d: limit %d, base %d, anchor %d; in force %d\n", a, g,
         GRANT(a, g).limit, GRANT(a, g).base, GRANT(a, g).anchor, IN_FORCE(a))
}

#define APPLY(a)                                                             \
  :: d_step {                                                                \
       agent[a].grant != NAMED(a) ->                                         \
       agent[a].grant = NAMED(a);                                            \
       printf("agent %d applies grant %d: in force %d\n", a, agent[a].grant, \
              IN_FORCE(a))                                                   \
     }

#define CRASHES(a)                                        \
  :: d_step {                                             \
       agent[a].mode <= DRAINING ->                       \
       agent[a].mode = DEAD;                              \
       printf("agent %d crashes\n", a)                                                   \
     }

#define STARTS(a)                                                    \
  :: d_step {                                                        \
       agent[a].mode == UNBORN && agent[0].mode == DEAD ->           \
       agent[a].mode = RUNNING;                                      \
       printf("agent %d starts as the successor of agent 0\n", a)    \
     }

#define LEAVES(a)                                         \
  :: d_step {                                             \
       agent[a].mode == RUNNING && agent[a].n > 0 ->      \
       agent[a].mode = DRAINING;                          \
       printf("agent %d leaves\n", a)                                                   \
     }

/* A8: released when nothing is in flight. */
#if defined(MUTANT_A8_RELEASE_EARLY)
#define DRAIN(a)
#else
#define DRAIN(a) EndCallsTo(a, 0);
#endif
#define SEND_DELETE(a)                                    \
  :: d_step {                                             \
       agent[a].mode == DRAINING ->                       \
       DRAIN(a)                                           \
       agent[a].mode = RELEASED;                          \
       printf("agent %d sends DELETE\n", a)                                                   \
     }

/* ---------------------------------------------------------------------- steps of a controller */

#define REIGNING(c) ((c) <= LEADER) /* the first may go on after the second has taken over */

/* C2: only a newer sync counts. A sync never makes a session, but the first one registers it. */
#if defined(MUTANT_C2_OLD_SYNC)
#define NEWEST(c, a, m) (m != BOOK(c, a).n)
#else
#define NEWEST(c, a, m) (m > BOOK(c, a).n)
#endif

#define RECEIVE_SYNC(c, a, m)                                          \
  :: m <= agent[a].n && BOOK(c, a).known && NEWEST(c, a, m) &&         \
       (sync[SYNC(a, m)] & 15) <= LAST(c) -> what = m

inline Receive(c, a, m) {
  Reserve(c);
  RAISE_TO(BOOK(c, a).n, m);
  BOOK(c, a).held = 1;
  RAISE_TO(BOOK(c, a).limit_hold, LIMIT_HOLD);
  RAISE_TO(BOOK(c, a).base_hold, BASE_HOLD);
  next = sync[SYNC(a, m)] & 15;
#if defined(MUTANT_C2_FOREIGN_ACK)
  if
  :: c == 2 && next > 0 && next < FIRST(2) -> next = next + GRANTS
  :: else
  fi;
#endif
  if
  :: OF_REIGN(next, c) ->
     BOOK(c, a).inherited_limit = 0;
     BOOK(c, a).inherited_base = 0;
     BOOK(c, a).in_flight = sync[SYNC(a, m)] >> 4;
     CAP_AT(BOOK(c, a).in_flight, reserved[a]);
     BOOK(c, a).reported = next;
     j = FIRST(c);
     do
     :: j < next ->
        GRANT(a, j).booked_limit = 0;
        GRANT(a, j).booked_base = 0;
        j++
     :: else -> break
     od
  :: else
  fi;
  printf("controller %d receives sync %d of agent %d: grant %d, in flight %d\n", c, m, a,
         sync[SYNC(a, m)] & 15, sync[SYNC(a, m)] >> 4);
  Supersede(c, a, m)
}

/* C11: the first sync (after the one that registered it) fences the older session of its name. */
inline Supersede(c, a, m) {
#if defined(UNIQUE)
  if
  :: BOOK(c, a).fence > 0 -> /* a fenced session that still reports */
     BOOK(c, a).fence = 0;
     shared_name = 1
#if defined(MUTANT_C11_FENCE_ON_REGISTER)
  :: BOOK(c, a).fence == 0 && a == 1 && !shared_name && BOOK(c, 0).known ->
#else
  :: BOOK(c, a).fence == 0 && a == 1 && m > 1 && !shared_name && BOOK(c, 0).known ->
#endif
     RAISE_TO(BOOK(c, 0).fence, FENCE);
     printf("controller %d fences agent 0\n", c)
  :: else
  fi
#else
  skip
#endif
}

#define RECEIVE_DELETE(c, a)                                                      \
  :: d_step {                                                                     \
       agent[a].mode == RELEASED && BOOK(c, a).known ->                           \
       Drop(c, a);                                                                \
       printf("controller %d receives DELETE of agent %d\n", c, a)                \
     }

/* C6: a round that starts now confirms all syncs that have arrived. */
#if REIGNS > 1 && !defined(MUTANT_C6_NO_CONFIRM)
#define CONFIRMED(c, a) (BOOK(c, a).confirmed == BOOK(c, a).n)
#else
#define CONFIRMED(c, a) true
#endif

#define WAITING(c)                          \
  (BOOK(c, 0).confirmed < BOOK(c, 0).n ||   \
   BOOK(c, AGENTS - 1).confirmed < BOOK(c, AGENTS - 1).n)
#define CONFIRM(c)                                                                        \
  :: d_step {                                                                             \
       LEADER == c && WAITING(c) ->                                                       \
       BOOK(c, 0).confirmed = BOOK(c, 0).n;                                               \
       BOOK(c, AGENTS - 1).confirmed = BOOK(c, AGENTS - 1).n;                             \
       printf("controller %d is confirmed\n", c)                                                   \
     }

/* The seq of a new grant, or a number past the last one. */
inline Next(c, a) {
  next = FIRST(c);
  do
  :: next <= LAST(c) && GRANT(a, next).state != UNUSED -> next++
  :: else -> break
  od
}

inline Decide(c, a, v, b, sync_number) {
  GRANT(a, next).limit = v;
  GRANT(a, next).base = b;
  GRANT(a, next).anchor = sync_number;
  GRANT(a, next).booked_limit = v;
  GRANT(a, next).booked_base = b;
  GRANT(a, next).state = SENT;
  BOOK(c, a).held = 0
}

/* C1: a raise spends what is not reserved. The allocator may want any limit v. */
#define MAY_ANSWER(c, a) \
  (BOOK(c, a).held && CONFIRMED(c, a) && BOOK(c, a).fence == 0 && !SPENT(c, a))
#define IN_BOUNDS(c, a, v) (SUM(R) - reserved[a] + v <= QUOTA || v <= reserved[a])

#if defined(MUTANT_C4_NO_LOG)
#define COVERED(a) true
#elif defined(MUTANT_C4_BASE_UNLOGGED)
#define COVERED(a) (top_limit[a] <= room)
#else
#define COVERED(a) (top_limit[a] <= room && top_base[a] <= lowest)
#endif

inline Answer(c, a, v) {
  Reserve(c);
  if
  :: IN_BOUNDS(c, a, v) -> MakeGrant(c, a, v)
  :: else
  fi
}

inline MakeGrant(c, a, v) {
  Next(c, a);
#if REIGNS > 1
  /* C4: sent at once if every state a successor could find covers it. */
  top_limit[a] = reserved[a];
  RAISE_TO(top_limit[a], v);
  RAISE_TO(top_base[a], (v > BASE -> BASE : v));
  room = durable[a].limit;
  lowest = durable[a].base;
#if !defined(MUTANT_C4_PENDING_IGNORED)
  if
  :: writing[(c) - 1] > 0 ->
     CAP_AT(room, PENDING(c, a).limit);
     CAP_AT(lowest, PENDING(c, a).base)
  :: else
  fi;
#endif
  if
  :: COVERED(a) ->
     Decide(c, a, v, (v > BASE -> BASE : v), BOOK(c, a).n);
     printf("controller %d sends grant %d to agent %d: limit %d, anchor %d\n", c, next, a, v,
            BOOK(c, a).n)
  :: !COVERED(a) && writing[(c) - 1] == 0 ->
     Decide(c, a, v, (v > BASE -> BASE : v), BOOK(c, a).n);
     printf("controller %d writes for grant %d to agent %d: limit %d, anchor %d\n", c, next, a, v,
            BOOK(c, a).n);
     StartWrite(c, a)
  :: else
  fi
#else
  Decide(c, a, v, (v > BASE -> BASE : v), BOOK(c, a).n);
  printf("controller %d sends grant %d to agent %d: limit %d, anchor %d\n", c, next, a, v,
         BOOK(c, a).n)
#endif
}

/* ------------------------------------------------------------------------------------- store */

#if REIGNS > 1

/* C5: the lowered bounds that a raise spends are in the same write. */
inline StartWrite(c, a) {
  room = next;
  Reserve(c);
  next = room;
#if !defined(MUTANT_C4_SENT_BEFORE_DURABLE)
  GRANT(a, next).state = DECIDED;
#endif
  writing[(c) - 1] = next;
  writer[(c) - 1] = a;
#if defined(MUTANT_C4_IN_FLIGHT_UNLOGGED)
  reserved[0] = top_limit[0];
  reserved[AGENTS - 1] = top_limit[AGENTS - 1];
#endif
#if defined(MUTANT_C4_BASE_UNLOGGED)
  top_base[0] = 0;
  top_base[AGENTS - 1] = 0;
#endif
  i = 0;
  do
  :: i < AGENTS ->
#if defined(MUTANT_C5_RAISE_ONLY)
     if
     :: i == a ->
        PENDING(c, i).limit = reserved[i];
        PENDING(c, i).base = top_base[i]
     :: else ->
        PENDING(c, i).limit = durable[i].limit;
        PENDING(c, i).base = durable[i].base
     fi;
#else
     PENDING(c, i).limit = reserved[i];
     PENDING(c, i).base = top_base[i];
#endif
     i++
  :: else -> break
  od
}

#if defined(MUTANT_C6_UNFENCED_WRITE)
#define MAY_WRITE(c) true
#else
#define MAY_WRITE(c) (LEADER == c)
#endif
#define COMMIT(c)                                                                 \
  :: d_step {                                                                     \
       writing[(c) - 1] > 0 && MAY_WRITE(c) ->                                    \
       Commit(c)                                                   \
     }

inline Commit(c) {
  i = 0;
  do
  :: i < AGENTS ->
     durable[i].limit = PENDING(c, i).limit;
     durable[i].base = PENDING(c, i).base;
     PENDING(c, i).limit = 0;
     PENDING(c, i).base = 0;
     i++
  :: else -> break
  od;
  j = writing[(c) - 1];
  i = writer[(c) - 1];
  printf("controller %d has written %d/%d, %d/%d\n", c, durable[0].limit, durable[0].base,
         durable[AGENTS - 1].limit, durable[AGENTS - 1].base);
  if
  :: GRANT(i, j).state == DECIDED ->
     printf("controller %d sends grant %d to agent %d\n", c, j, i);
     GRANT(i, j).state = SENT
  :: else
  fi;
  RAISE_TO(BOOK(c, i).confirmed, GRANT(i, j).anchor);
  writing[(c) - 1] = 0;
  writer[(c) - 1] = 0
}

/* C7: without confirmation an answer may lower, and extends nothing. */
#if defined(MUTANT_C7_NEW_ANCHOR)
#define C7_ANCHOR(c, a) BOOK(c, a).n
#else
#define C7_ANCHOR(c, a) BOOK(c, a).confirmed
#endif
#define MAY_LOWER(c, a)                                             \
  (BOOK(c, a).held && BOOK(c, a).confirmed < BOOK(c, a).n &&        \
   BOOK(c, a).confirmed > 0 && !SPENT(c, a))

inline AnswerUnconfirmed(c, a, v) {
  Next(c, a);
  room = 0;
  lowest = 0;
  if
  :: BOOK(c, a).reported > 0 ->
     room = GRANT(a, BOOK(c, a).reported).booked_limit;
     lowest = GRANT(a, BOOK(c, a).reported).booked_base
  :: else
  fi;
#if defined(MUTANT_C7_BELOW_DECIDED)
  /* Takes what it decided last for what is installed. */
  j = FIRST(c);
  do
  :: j < next ->
     room = GRANT(a, j).booked_limit;
     lowest = GRANT(a, j).booked_base;
     j++
  :: else -> break
  od;
#endif
  CAP_AT(lowest, v);
  if
  :: v <= room ->
     Decide(c, a, v, lowest, C7_ANCHOR(c, a));
     printf("controller %d, unconfirmed, sends grant %d to agent %d: limit %d, anchor %d\n", c,
            next, a, v, GRANT(a, next).anchor)
  :: else
  fi
}

/* C9: take over, then read, then hold in full. */
#if defined(MUTANT_C9_READ_FIRST)
#define FOUND(a) read[a]
#define MAY_TAKE_OVER has_read
#define READ                          \
  :: d_step {                         \
       !has_read ->                   \
       has_read = 1;                  \
       read[0].limit = durable[0].limit; \
       read[0].base = durable[0].base;   \
       read[AGENTS - 1].limit = durable[AGENTS - 1].limit; \
       read[AGENTS - 1].base = durable[AGENTS - 1].base;   \
       printf("controller 2 reads\n")                                                   \
     }
#else
#define FOUND(a) durable[a]
#define MAY_TAKE_OVER true
#define READ
#endif
#if defined(MUTANT_C9_SHORT_HOLD)
#define INHERITED_HOLD 1
#else
#define INHERITED_HOLD 8
#endif

inline Inherit(a) {
  BOOK(2, a).known = 1;
  BOOK(2, a).inherited_limit = FOUND(a).limit;
  BOOK(2, a).inherited_base = FOUND(a).base;
  BOOK(2, a).limit_hold = (INHERITED_HOLD < LIMIT_HOLD -> INHERITED_HOLD : LIMIT_HOLD);
  BOOK(2, a).base_hold = (INHERITED_HOLD < BASE_HOLD -> INHERITED_HOLD : BASE_HOLD)
}

#define TAKE_OVER                                                                         \
  :: d_step {                                                                             \
       LEADER == 1 && MAY_TAKE_OVER ->                                                    \
       leader_is_second = 1;                                                              \
       Inherit(0);                                                                        \
       Inherit(AGENTS - 1);                                                                        \
       printf("controller 2 takes over: %d/%d, %d/%d\n", FOUND(0).limit, FOUND(0).base,   \
              FOUND(AGENTS - 1).limit, FOUND(AGENTS - 1).base)                                                   \
     }
#endif

/* --------------------------------------------------------------------------------------- time */

inline TickBook(c, a) {
  if
  :: BOOK(c, a).limit_hold > 0 ->
     BOOK(c, a).limit_hold = BOOK(c, a).limit_hold - 1;
     if
     :: BOOK(c, a).limit_hold == 0 ->
#if defined(MUTANT_C1_NO_BASE_HOLD)
        EndAll(c, a)
#elif defined(MUTANT_C3_REVIVAL)
        skip
#else
        EndLimits(c, a)
#endif
     :: else
     fi
  :: else
  fi;
  if
  :: BOOK(c, a).base_hold > 0 ->
     BOOK(c, a).base_hold = BOOK(c, a).base_hold - 1;
     if
     :: BOOK(c, a).base_hold == 0 -> EndAll(c, a)
     :: else
     fi
  :: else
  fi;
#if defined(UNIQUE)
  if
  :: BOOK(c, a).fence > 0 ->
     BOOK(c, a).fence = BOOK(c, a).fence - 1;
     if
     :: BOOK(c, a).fence == 0 -> Drop(c, a)
     :: else
     fi
  :: else
  fi
#endif
}

inline TickAgent(a) {
  agent[a].old = agent[a].young;
  agent[a].young = 0;
#if defined(MUTANT_A1_LEASE_FROM_RECEIPT)
  if
  :: agent[a].life > 0 -> agent[a].life = agent[a].life - 1
  :: else
  fi;
#endif
  i = 1;
  do
  :: i <= SYNCS ->
     if
     :: life[SYNC(a, i)] > 0 -> life[SYNC(a, i)] = life[SYNC(a, i)] - 1
     :: else
     fi;
     i++
  :: else -> break
  od
}

#if AGENTS > 1
#define TICK_BOOKS(c) TickBook(c, 0); TickBook(c, 1)
#define TICK_AGENTS TickAgent(0); TickAgent(1)
#else
#define TICK_BOOKS(c) TickBook(c, 0)
#define TICK_AGENTS TickAgent(0)
#endif

#if REIGNS > 1
#define TICK_SECOND TICK_BOOKS(2);
#else
#define TICK_SECOND
#endif

#define TICK                                                                              \
  d_step {                                                                                \
       TICK_AGENTS;                                                                       \
       TICK_BOOKS(1);                                                                     \
       TICK_SECOND                                                                        \
       printf("-- tick: in force %d + %d, in flight %d + %d\n", IN_FORCE(0),              \
              IN_FORCE(AGENTS - 1), IN_FLIGHT(0), IN_FLIGHT(AGENTS - 1))                                                   \
     }

/* -------------------------------------------------------------------------------------- world */

#define SYNCS_2(c, a) RECEIVE_SYNC(c, a, 1) RECEIVE_SYNC(c, a, 2)
#define SYNCS_3(c, a) SYNCS_2(c, a) RECEIVE_SYNC(c, a, 3)
#define SYNCS_4(c, a) SYNCS_3(c, a) RECEIVE_SYNC(c, a, 4)
#define SYNCS_5(c, a) SYNCS_4(c, a) RECEIVE_SYNC(c, a, 5)
#define INSTALL_1(a) INSTALL(a, 1)
#define INSTALL_2(a) INSTALL_1(a) INSTALL(a, 2)
#define INSTALL_3(a) INSTALL_2(a) INSTALL(a, 3)
#define INSTALL_4(a) INSTALL_3(a) INSTALL(a, 4)
#define INSTALL_5(a) INSTALL_4(a) INSTALL(a, 5)
#define INSTALL_6(a) INSTALL_5(a) INSTALL(a, 6)
#define LIMIT_2 :: what = 0 :: what = 1 :: what = 2
#define LIMIT_3 LIMIT_2 :: what = 3
#define JOIN(f, n) f##n
#define UP_TO(f, n) JOIN(f, n)

/* What the step under way is about; 0 between steps. */
byte who;
byte reign;
byte what;

#if AGENTS > 1
#define CHOOSE_AGENT if :: who = 0 :: who = 1 fi
#else
#define CHOOSE_AGENT who = 0
#endif
#if REIGNS > 1 && !defined(PASSIVE)
#define CHOOSE_REIGN if :: reign = 1 :: LEADER == 2 -> reign = 2 fi
#else
#define CHOOSE_REIGN reign = 1
#endif

active proctype World() {
  d_step {
    BOOK(1, 0).known = 1;
    BOOK(1, AGENTS - 1).known = 1
  };
#if defined(UNIQUE)
  if
  :: agent[1].mode = UNBORN
  :: d_step { /* dead already: its registration is a late copy */
       agent[1].mode = DEAD;
       agent[1].n = 1
     }
  fi;
#endif
end:
  do
  :: atomic {
       CHOOSE_AGENT;
       if
       SEND_SYNC(who)
#if defined(EVERY_CALL)
       ADMIT(who)
       END_CALL(who, young)
       END_CALL(who, old)
#else
       RENEW_CALLS(who)
#endif
#if defined(MUTANT_A5_ACK_FIRST)
       APPLY(who)
#endif
#if defined(CRASH)
       CRASHES(who)
#endif
#if defined(UNIQUE)
       STARTS(who)
#endif
#if defined(LEAVING)
       LEAVES(who)
       SEND_DELETE(who)
#endif
       :: if
          UP_TO(INSTALL_, STAMPS_COUNT)(who)
          fi;
          d_step { Install(who, what) }
       fi;
       d_step { Done() }
     }
  :: atomic {
       CHOOSE_AGENT;
       CHOOSE_REIGN;
       if
       :: if
          UP_TO(SYNCS_, SYNCS)(reign, who)
          fi;
          d_step { Receive(reign, who, what) }
       :: MAY_ANSWER(reign, who) ->
          if
          UP_TO(LIMIT_, QUOTA)
          fi;
          d_step { Answer(reign, who, what) }
#if defined(UNCONFIRMED)
       :: MAY_LOWER(reign, who) ->
          if
          UP_TO(LIMIT_, QUOTA)
          fi;
          d_step { AnswerUnconfirmed(reign, who, what) }
#endif
#if defined(LEAVING)
       RECEIVE_DELETE(reign, who)
#endif
       fi;
       d_step { Done() }
     }
#if REIGNS > 1
  :: atomic {
       CHOOSE_REIGN;
       if
#if !defined(MUTANT_C6_NO_CONFIRM)
       CONFIRM(reign)
#endif
       COMMIT(reign)
       fi;
       d_step { Done() }
     }
  :: atomic {
       if
       READ
       TAKE_OVER
       fi;
       d_step { Done() }
     }
#endif
  :: atomic {
       TICK;
       d_step { Done() }
     }
  od
}
