/* All 524,288 score cards of Kniffel by backward induction, as fast as C on one thread can.
 *
 *     cc -O3 -march=native -o kniffel kniffel.c
 *     ./kniffel REPETITIONS [TABLE]
 *
 * A card is the set of filled boxes and the points of the upper ones, no more than 63 of which
 * matter; its value is what the best play is expected to score from there on. A game has thirteen
 * turns of three rolls; a Kniffel is a full house, too; 63 points in the upper boxes earn 35 more
 * at the end, and nothing is earned by a second Kniffel.
 *
 * The sets are solved from the full one down. For each, the 64 cards are lanes of vectors, as many at
 * a time as a register holds, for then all that is known of a turn stays in the first-level cache:
 * a row of lanes for each of the 462 multisets of up to five dice. The code for them is straight,
 * every row known to the compiler. Beginning with the best box for each of the 252 throws,
 *
 *     a roll adds one die after the other to the kept ones: six rows make the mean in a new one;
 *     a choice puts one die after the other back: the maximum of a row and of those with a die less.
 *
 * Rows that share their two lowest faces are dealt with together, in registers.
 *
 * Prints one JSON object: the number of cards, the value of the empty one, and the seconds of
 * processor time that the fastest of REPETITIONS solves took. With TABLE, writes 524,288 doubles in
 * native byte order to that file: the value of every card, at 64 * filled + points, where bits 0 to 5
 * of `filled` are the ones to the sixes and bits 6 to 12 three of a kind, four of a kind, full house,
 * small straight, large straight, Kniffel and chance.
 */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* This pass moves additions to where their sum is needed, and runs out of registers. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-ter")
#endif

enum {
    BOXES = 13,
    SETS = 1 << BOXES,
    FULL = SETS - 1,
    POINTS = 64,
    PADDED = 96, /* points to which five sixes may lead, which are worth what 63 are */
    BONUS = 35,
    NEVER = -1000 /* what it is worth to enter a throw in a filled box */
};

enum { /* the boxes that are not for one face */
    THREE_ALIKE = 6,
    FOUR_ALIKE,
    FULL_HOUSE,
    SMALL_STRAIGHT,
    LARGE_STRAIGHT,
    KNIFFEL,
    CHANCE
};

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double unaligned __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

#define INLINED static inline __attribute__((always_inline))
#define SEPARATE static __attribute__((noinline))

/* Rows are not read before and not written after this point, which saves registers: compilers would
 * rather keep all that they have seen. */
#define FENCE __asm__ volatile("" ::: "memory");

#if defined(__AVX512F__)
#define LARGER(x, y) _mm512_max_pd(x, y)
#elif defined(__AVX__)
#define LARGER(x, y) _mm256_max_pd(x, y)
#elif defined(__SSE2__)
#define LARGER(x, y) _mm_max_pd(x, y)
#else
typedef long long whole __attribute__((vector_size(LANES * sizeof(long long))));
INLINED lanes LARGER(lanes x, lanes y)
{
    whole chosen = (whole)(x > y);
    return (lanes)((chosen & (whole)x) | (~chosen & (whole)y));
}
#endif

/* The same maximum, for every other one. Doubles that are not negative are in the order of their bits,
 * and on these processors other units find the maximum of integers, at the same time. (Of two
 * negative ones it may be the smaller; but what is worth NEVER loses to every value anyway.) */
#if defined(__AVX512F__) && (defined(__znver3__) || defined(__znver4__) || defined(__znver5__))
#define LARGER_TOO(x, y) ((lanes)_mm512_max_epi64((__m512i)(x), (__m512i)(y)))
#else
#define LARGER_TOO(x, y) LARGER(x, y)
#endif

/* Likewise a sum; `one` is 1, which the compiler does not know. */
#if defined(__FMA__)
#define SUM_TOO(x, y, one) ((x) * (one) + (y))
#else
#define SUM_TOO(x, y, one) ((void)(one), (x) + (y))
#endif

/* Faces count from 0. Multisets are named by their faces in ascending order. */
#define FACES(M) M(0) M(1) M(2) M(3) M(4) M(5)
/* a macro is not expanded within itself */
#define FACES_TOO(M) M(0) M(1) M(2) M(3) M(4) M(5)
#define PAIRS(M)                                             \
    M(0, 0) M(0, 1) M(0, 2) M(0, 3) M(0, 4) M(0, 5)          \
    M(1, 1) M(1, 2) M(1, 3) M(1, 4) M(1, 5)                  \
    M(2, 2) M(2, 3) M(2, 4) M(2, 5)                          \
    M(3, 3) M(3, 4) M(3, 5) M(4, 4) M(4, 5) M(5, 5)
#define PAIRS_DOWN(M)                                        \
    M(5, 5) M(4, 5) M(4, 4) M(3, 5) M(3, 4) M(3, 3)          \
    M(2, 5) M(2, 4) M(2, 3) M(2, 2)                          \
    M(1, 5) M(1, 4) M(1, 3) M(1, 2) M(1, 1)                  \
    M(0, 5) M(0, 4) M(0, 3) M(0, 2) M(0, 1) M(0, 0)
#define TRIPLES(M)                                           \
    M(0, 0, 0)                                               \
    M(0, 0, 1) M(0, 1, 1) M(1, 1, 1)                         \
    M(0, 0, 2) M(0, 1, 2) M(1, 1, 2) M(0, 2, 2) M(1, 2, 2)   \
    M(2, 2, 2)                                               \
    M(0, 0, 3) M(0, 1, 3) M(1, 1, 3) M(0, 2, 3) M(1, 2, 3)   \
    M(2, 2, 3) M(0, 3, 3) M(1, 3, 3) M(2, 3, 3) M(3, 3, 3)   \
    M(0, 0, 4) M(0, 1, 4) M(1, 1, 4) M(0, 2, 4) M(1, 2, 4)   \
    M(2, 2, 4) M(0, 3, 4) M(1, 3, 4) M(2, 3, 4) M(3, 3, 4)   \
    M(0, 4, 4) M(1, 4, 4) M(2, 4, 4) M(3, 4, 4) M(4, 4, 4)   \
    M(0, 0, 5) M(0, 1, 5) M(1, 1, 5) M(0, 2, 5) M(1, 2, 5)   \
    M(2, 2, 5) M(0, 3, 5) M(1, 3, 5) M(2, 3, 5) M(3, 3, 5)   \
    M(0, 4, 5) M(1, 4, 5) M(2, 4, 5) M(3, 4, 5) M(4, 4, 5)   \
    M(0, 5, 5) M(1, 5, 5) M(2, 5, 5) M(3, 5, 5) M(4, 5, 5)   \
    M(5, 5, 5)

/* The place of a multiset among those of its size. */
#define PLACE2(a, b) ((a) + (b) * ((b) + 1) / 2)
#define PLACE3(a, b, c) (PLACE2(a, b) + (c) * ((c) + 1) * ((c) + 2) / 6)
#define PLACE4(a, b, c, d) (PLACE3(a, b, c) + (d) * ((d) + 1) * ((d) + 2) * ((d) + 3) / 24)
#define PLACE5(a, b, c, d, e) \
    (PLACE4(a, b, c, d) + (e) * ((e) + 1) * ((e) + 2) * ((e) + 3) * ((e) + 4) / 120)

/* The same with a face f more, none of the others but the first being lower. */
#define WITH2(f, a) ((f) < (a) ? PLACE2(f, a) : PLACE2(a, f))
#define WITH3(f, a, b) ((f) < (a) ? PLACE3(f, a, b) : PLACE3(a, f, b))
#define WITH4(f, a, b, c) ((f) < (a) ? PLACE4(f, a, b, c) : PLACE4(a, f, b, c))
#define WITH5(f, a, b, c, d) ((f) < (a) ? PLACE5(f, a, b, c, d) : PLACE5(a, f, b, c, d))

/* How many multisets there are of each size. */
enum { FIVES = 252, FOURS = 126, THREES = 56, TWOS = 21, ONES = 6, ROWS = 462 };

/* The rows; the pointers are to the middle of each part, for the code is shorter where all is near. */
struct rows {
    lanes *five;  /* those of five dice */
    lanes *fewer; /* those of four, of three, of two, of one, and of none */
};

#define FIVE(place) rows.five[(place)-FIVES / 2]
#define FEWER(place) rows.fewer[(place) - (ROWS - FIVES) / 2]
#define FOUR(place) FEWER(place)
#define THREE(place) FEWER(FOURS + (place))
#define TWO(place) FEWER(FOURS + THREES + (place))
#define ONE(place) FEWER(FOURS + THREES + TWOS + (place))
#define NONE FEWER(FOURS + THREES + TWOS + ONES)

/* What there is to gain by a throw. It lies where the rows of fewer dice are later. */
struct entries {
    /* for each sum of the dice: the best box if three or four are alike, or if none need be */
    lanes four_alike[31], three_alike[31], any[31];
    lanes full_house, small_straight, large_straight, kniffel;
    lanes upper[6][6]; /* for each face: its box, if so many dice show it */
};
_Static_assert(sizeof(struct entries) <= (ROWS - FIVES) * sizeof(lanes), "no room for entries");

INLINED lanes load(const double *card)
{
    return *(const unaligned *)card;
}

/* `next[box]` are the cards that filling the box with no points leads to. */
INLINED void fill_boxes(struct entries *entries, const double *const next[BOXES], int points)
{
    lanes lower[BOXES], nothing = load(next[0] + points);
    for (int box = 0; box < BOXES; box++) {
        lower[box] = load(next[box] + points);
        nothing = LARGER_TOO(nothing, lower[box]);
    }
    for (int face = 0; face < 6; face++)
        for (int count = 0; count <= 5; count++) {
            int score = count * (face + 1);
            entries->upper[face][count] = load(next[face] + points + score) + (double)score;
        }
    for (int sum = 5; sum <= 30; sum++) {
        entries->any[sum] = LARGER_TOO(nothing, lower[CHANCE] + (double)sum);
        entries->three_alike[sum] = LARGER_TOO(entries->any[sum], lower[THREE_ALIKE] + (double)sum);
        entries->four_alike[sum] =
            LARGER_TOO(entries->three_alike[sum], lower[FOUR_ALIKE] + (double)sum);
    }
    entries->full_house = lower[FULL_HOUSE] + 25.0;
    entries->small_straight = lower[SMALL_STRAIGHT] + 30.0;
    entries->large_straight = LARGER_TOO(entries->small_straight, lower[LARGE_STRAIGHT] + 40.0);
    entries->kniffel = LARGER_TOO(entries->full_house, lower[KNIFFEL] + 50.0);
}

/* The die at a place of a throw that shows the faces 0 to 4 so many times. */
INLINED int die(int place, int n0, int n1, int n2, int n3, int n4)
{
    return (n0 <= place) + (n0 + n1 <= place) + (n0 + n1 + n2 <= place)
        + (n0 + n1 + n2 + n3 <= place) + (n0 + n1 + n2 + n3 + n4 <= place);
}

/* Enter one throw, given the best box for its faces 0 to 2, and for its faces 3 to 5. */
INLINED void enter(struct rows rows, const struct entries *entries, lanes low, lanes high, int n0,
                   int n1, int n2, int n3, int n4)
{
    const int a = die(0, n0, n1, n2, n3, n4), b = die(1, n0, n1, n2, n3, n4),
              c = die(2, n0, n1, n2, n3, n4), d = die(3, n0, n1, n2, n3, n4),
              e = die(4, n0, n1, n2, n3, n4);
    const int sum = a + b + c + d + e + 5;
    const int shown = 1 << a | 1 << b | 1 << c | 1 << d | 1 << e;
    const int four_alike = a == d || b == e;
    const int three_alike = a == c || b == d || c == e;
    const int full_house = three_alike && a == b && d == e && !four_alike;
    const int large_straight = shown == 31 || shown == 62;
    const int small_straight =
        (shown & 15) == 15 || (shown & 30) == 30 || (shown & 60) == 60;

    lanes best = LARGER_TOO(low, high);
    best = LARGER(best, four_alike ? entries->four_alike[sum]
                            : three_alike ? entries->three_alike[sum] : entries->any[sum]);
    if (a == e)
        best = LARGER_TOO(best, entries->kniffel);
    else if (full_house)
        best = LARGER_TOO(best, entries->full_house);
    else if (large_straight)
        best = LARGER_TOO(best, entries->large_straight);
    else if (small_straight)
        best = LARGER_TOO(best, entries->small_straight);
    FIVE(PLACE5(a, b, c, d, e)) = best;
}

/* Enter all throws that show the faces 0 to 2 so many times; `high` is the best box for the others. (A
 * pair c <= d stands here for three counts: c, d - c, and what is left.) */
INLINED void enter_group(struct rows rows, const struct entries *entries, const lanes high[TWOS],
                         int n0, int n1, int n2)
{
    const int many = 5 - n0 - n1 - n2;
    const lanes low = LARGER_TOO(LARGER(entries->upper[0][n0], entries->upper[1][n1]),
                                 entries->upper[2][n2]);
#define ENTER(c, d) \
    if (d <= many) \
        enter(rows, entries, low, high[PLACE2(c, d)], n0, n1, n2, c, d - c);
    PAIRS(ENTER)
}

/* Enter all throws of which so many dice show one of the faces 0 to 2. */
INLINED void enter_groups(struct rows rows, const struct entries *entries, int few)
{
    const int many = 5 - few;
    lanes high[TWOS];
#define BEST_HIGH(c, d) \
    if (d <= many) \
        high[PLACE2(c, d)] = \
            LARGER_TOO(LARGER(entries->upper[3][c], entries->upper[4][d - c]), \
                       entries->upper[5][many - d]);
#define ENTER_GROUP(c, d) \
    if (d <= few) { \
        enter_group(rows, entries, high, c, d - c, few - d); \
        FENCE \
    }
    PAIRS(BEST_HIGH)
    FENCE
    PAIRS(ENTER_GROUP)
}

SEPARATE void enter_all(struct rows rows, const double *const next[BOXES], int points)
{
    struct entries *entries = (struct entries *)&FOUR(0);
    fill_boxes(entries, next, points);
    FENCE
#define ENTER_GROUPS(few) \
    enter_groups(rows, entries, few); \
    FENCE
    FACES(ENTER_GROUPS)
}

/* Make the means of the rows a b c d, a b c and a b, for all d >= c >= b, from those with a die more. */
INLINED void roll_group(struct rows rows, int a, int b, lanes one)
{
    const double sixth = 1.0 / 6;
    lanes four[TWOS], three[ONES], two = {0};

    /* faces below b */
#define BEGIN_FOUR(c, d) \
    four[PLACE2(c, d)] = 0 < b && b <= c ? FIVE(WITH5(0, a, b, c, d)) : (lanes){0};
#define ADD_FIVE(c, d) \
    if (b <= c) \
        four[PLACE2(c, d)] = SUM_TOO(FIVE(WITH5(f, a, b, c, d)), four[PLACE2(c, d)], one);
#define ADD_FIVES(face) \
    if (0 < face && face < b) { \
        const int f = face; \
        PAIRS(ADD_FIVE) \
    }
    PAIRS(BEGIN_FOUR)
    FACES(ADD_FIVES)

    /* faces from b on: a row of five dice is read once, and kept in a register meanwhile */
#define SHARE_FIVE(c, d, e) \
    if (b <= c) { \
        const lanes five = FIVE(PLACE5(a, b, c, d, e)); \
        FENCE \
        four[PLACE2(c, d)] += five; \
        if (d != e) \
            four[PLACE2(c, e)] += five; \
        if (c != d) \
            four[PLACE2(d, e)] += five; \
    }
#define END_FOUR(c, d) \
    if (b <= c) \
        FOUR(PLACE4(a, b, c, d)) = four[PLACE2(c, d)] *= sixth;
    TRIPLES(SHARE_FIVE)
    PAIRS(END_FOUR)

    /* the same for three dice, and for two */
#define BEGIN_THREE(c) three[c] = 0 < b && b <= c ? FOUR(WITH4(0, a, b, c)) : (lanes){0};
#define ADD_FOUR(c) \
    if (b <= c) \
        three[c] = SUM_TOO(FOUR(WITH4(f, a, b, c)), three[c], one);
#define ADD_FOURS(face) \
    if (0 < face && face < b) { \
        const int f = face; \
        FACES_TOO(ADD_FOUR) \
    }
#define SHARE_FOUR(c, d) \
    if (b <= c) { \
        three[c] += four[PLACE2(c, d)]; \
        if (c != d) \
            three[d] += four[PLACE2(c, d)]; \
    }
#define ADD_THREE(f) \
    if (f < b) \
        two = SUM_TOO(THREE(WITH3(f, a, b)), two, one);
#define END_THREE(c) \
    if (b <= c) \
        two += THREE(PLACE3(a, b, c)) = three[c] *= sixth;
    FACES(BEGIN_THREE)
    FACES(ADD_FOURS)
    PAIRS(SHARE_FOUR)
    FACES(ADD_THREE)
    FACES(END_THREE)
    TWO(PLACE2(a, b)) = two * sixth;
}

SEPARATE void roll(struct rows rows)
{
    static volatile double unknown = 1;
    const lanes one = (lanes){0} + unknown;
    const double sixth = 1.0 / 6;
    lanes none = {0};
#define ROLL_GROUP(a, b) \
    roll_group(rows, a, b, one); \
    FENCE
#define ROLL_ONE(a) \
    ONE(a) = sixth * (TWO(WITH2(0, a)) + TWO(WITH2(1, a)) + TWO(WITH2(2, a)) \
                      + TWO(WITH2(3, a)) + TWO(WITH2(4, a)) + TWO(WITH2(5, a))); \
    none += ONE(a);
    PAIRS(ROLL_GROUP)
    FACES(ROLL_ONE)
    NONE = none * sixth;
}

/* Five dice fall in 1, 5, 10, 20, 30, 60 or 120 orders: say which of these, from 0 on. */
INLINED int orders(int a, int b, int c, int d, int e)
{
    const int pairs = (a == b) + (b == c) + (c == d) + (d == e);
    return a == e ? 0
        : a == d || b == e ? 1
        : (a == c && d == e) || (a == b && c == e) ? 2
        : a == c || b == d || c == e ? 3
        : pairs == 2 ? 4
        : pairs == 1 ? 5 : 6;
}

/* Make the maxima of the rows a b, a b c, a b c d and a b c d e, for all e >= d >= c >= b, and of those
 * with dice less. The last ones are written, or added to the one of `sums` for their orders. */
INLINED void keep_group(struct rows rows, int a, int b, lanes *sums)
{
    lanes two = LARGER_TOO(TWO(PLACE2(a, b)), ONE(a)), three[ONES], four[TWOS];
    if (a != b)
        two = LARGER(two, ONE(b));
    TWO(PLACE2(a, b)) = two;
#define KEEP_THREE(c) \
    if (b <= c) { \
        lanes best = LARGER_TOO(THREE(PLACE3(a, b, c)), two); \
        if (b != c) \
            best = LARGER_TOO(best, TWO(PLACE2(a, c))); \
        if (a != b) \
            best = LARGER(best, TWO(PLACE2(b, c))); \
        THREE(PLACE3(a, b, c)) = three[c] = best; \
    }
#define KEEP_FOUR(c, d) \
    if (b <= c) { \
        lanes best = LARGER_TOO(FOUR(PLACE4(a, b, c, d)), three[c]); \
        if (c != d) \
            best = LARGER(best, three[d]); \
        if (b != c) \
            best = LARGER_TOO(best, THREE(PLACE3(a, c, d))); \
        if (a != b) \
            best = LARGER(best, THREE(PLACE3(b, c, d))); \
        FOUR(PLACE4(a, b, c, d)) = four[PLACE2(c, d)] = best; \
    }
#define KEEP_FIVE(c, d, e) \
    if (b <= c) { \
        lanes best = LARGER_TOO(FIVE(PLACE5(a, b, c, d, e)), four[PLACE2(c, d)]); \
        if (d != e) \
            best = LARGER(best, four[PLACE2(c, e)]); \
        if (c != d) \
            best = LARGER_TOO(best, four[PLACE2(d, e)]); \
        if (b != c) \
            best = LARGER(best, FOUR(PLACE4(a, c, d, e))); \
        if (a != b) \
            best = LARGER_TOO(best, FOUR(PLACE4(b, c, d, e))); \
        if (sums) \
            sums[orders(a, b, c, d, e)] += best; \
        else \
            FIVE(PLACE5(a, b, c, d, e)) = best; \
    }
    FACES(KEEP_THREE)
    PAIRS(KEEP_FOUR)
    TRIPLES(KEEP_FIVE)
}

#define KEEP_ONE(a) ONE(a) = LARGER(ONE(a), NONE);

SEPARATE void keep(struct rows rows)
{
#define KEEP_GROUP(a, b) \
    keep_group(rows, a, b, NULL); \
    FENCE
    FACES(KEEP_ONE)
    PAIRS_DOWN(KEEP_GROUP)
}

/* The choice after the first roll, and that roll, of all dice at once. */
SEPARATE void keep_and_roll_all(struct rows rows, double *card)
{
    lanes sums[7] = {{0}};
#define KEEP_AND_ADD_GROUP(a, b) \
    keep_group(rows, a, b, sums); \
    FENCE
    FACES(KEEP_ONE)
    PAIRS_DOWN(KEEP_AND_ADD_GROUP)
    *(unaligned *)card = (sums[0] + 5 * sums[1] + 10 * sums[2] + 20 * sums[3] + 30 * sums[4]
                          + 60 * sums[5] + 120 * sums[6]) / 7776;
}

/* Fill the table: PADDED values for each set of filled boxes. */
static void solve(double *table)
{
    static lanes memory[ROWS];
    double filled[PADDED];
    struct rows rows = {memory + FIVES / 2, memory + FIVES + (ROWS - FIVES) / 2};
    __asm__("" : "+r"(rows.five), "+r"(rows.fewer)); /* or they would be made one again */

    for (int points = 0; points < PADDED; points++) {
        filled[points] = NEVER;
        table[(size_t)FULL * PADDED + points] = points < POINTS - 1 ? 0 : BONUS;
    }
    for (int set = FULL - 1; set >= 0; set--) {
        double *cards = table + (size_t)set * PADDED;
        const double *next[BOXES];
        for (int box = 0; box < BOXES; box++)
            next[box] = set >> box & 1 ? filled : table + (size_t)(set | 1 << box) * PADDED;
        for (int points = 0; points < POINTS; points += LANES) {
            enter_all(rows, next, points);
            roll(rows);
            keep(rows);
            roll(rows);
            keep_and_roll_all(rows, cards + points);
        }
        for (int points = POINTS; points < PADDED; points++)
            cards[points] = cards[POINTS - 1];
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int write_table(const char *path, const double *table)
{
    FILE *file = fopen(path, "wb");
    int complete = file != NULL;
    for (int set = 0; complete && set < SETS; set++)
        complete = fwrite(table + (size_t)set * PADDED, sizeof *table, POINTS, file) == POINTS;
    if (file && fclose(file))
        complete = 0;
    if (!complete)
        perror(path);
    return complete;
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 0;
    if (argc < 2 || argc > 3 || repetitions < 1) {
        fprintf(stderr, "usage: %s REPETITIONS [TABLE], with REPETITIONS >= 1\n", argv[0]);
        return 2;
    }
    size_t bytes = sizeof(double) * SETS * PADDED;
    double *table = malloc(bytes);
    if (!table) {
        fprintf(stderr, "kniffel: no memory for %zu bytes\n", bytes);
        return EXIT_FAILURE;
    }
    memset(table, 0, bytes); /* so that the system provides the pages now */

    double fastest = 0;
    for (int repetition = 0; repetition < repetitions; repetition++) {
        double began = seconds();
        solve(table);
        double took = seconds() - began;
        if (repetition == 0 || took < fastest)
            fastest = took;
    }
    printf("{\"cards\": %d, \"value\": %.17g, \"repetitions\": %d, \"seconds\": %.6f}\n",
           SETS * POINTS, table[0], repetitions, fastest);
    int written = argc < 3 || write_table(argv[2], table);
    free(table);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
