/* Mancala on packed integers: trees of moves, and tables of endings, as fast as plain C can.
 *
 *     cc -O3 -march=native -o mancala mancala.c
 *     ./mancala perft PITS STONES DEPTH
 *     ./mancala minimax PITS STONES DEPTH
 *     ./mancala alphabeta PITS STONES DEPTH [down]
 *     ./mancala deepening PITS STONES DEPTH
 *     ./mancala endings PITS STONES [TABLE]
 *     ./mancala endings-plain PITS STONES [TABLE]
 *
 * Two players have PITS pits each, with STONES in each at the start. A sowing goes through the own
 * pits after the source, the own kalah, the opponent's pits, and round again. A last stone in an own
 * pit that held some is sown on, if this sowing has crossed the opponent's side. A last stone in an
 * opponent's pit that now holds two or three captures these, and those of the pits before it while
 * they hold two or three. More than half of all stones end the game; so does a mover with none in
 * the pits, and what is left belongs to the opponent then.
 *
 * A side is one word with equally many bits for each pit, the first one lowest, and for the kalah on
 * top. What a sowing adds to both sides is looked up by its pit and its number of stones.
 *
 * `perft` makes all moves up to DEPTH and counts the ways; `minimax` looks for the best one, where the
 * difference of the kalahs is the value after DEPTH moves; `alphabeta` does so with bounds (fail-soft,
 * no table), and tries pits from the first one up, or from the last one down. `deepening` searches one
 * move ahead, two, ..., DEPTH, with a table of positions in buckets of four and tests of all moves but
 * the first one; the move in the table comes first, then those that have cut off often. All count the
 * positions that they have come to, the start and repetitions among them.
 *
 * `endings` values all boards with up to STONES stones in the pits and empty kalahs for the mover, one
 * byte each, without a stop at the majority. It takes a move of one row for all rows across at once.
 * `endings-plain` does the same board by board: it makes each move and looks up where it leads to.
 *
 * Prints one JSON object: what was counted or found, and the seconds of processor time that it took.
 * The checksum of endings is h = h * 1099511628211 ^ byte, modulo 2^64 and from 0 on, over all boards;
 * with TABLE, writes these bytes to that file. Boards with m stones stand before those with m + 1 here,
 * in the order of their ranks. Pits of both players that are equally far from the kalahs make a pair.
 * With w_k stones in pair k, s_k in the pairs before it, r_k the product of w_j + 1 over the pairs j
 * after it, and o_k stones of the mover in it, the rank is the sum of r_k * (before(k, s_k+1, s_k) + o_k)
 * over all pairs: before(k, n, s) are the boards on the pairs up to k with n stones, of which less than
 * s lie before pair k. A move that keeps all stones in play leads to a smaller rank.
 */

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t side;

enum landing { NOWHERE, OPPONENT, CROSSED }; /* in CROSSED, the last stone lies in an own pit */

struct sowing {
    side own, opponent; /* what it adds; to the source, minus its stones */
    int place;          /* of the last stone, in bits */
    enum landing landing;
};

enum { MAX_BITS = 63, MAX_PITS = 15, MAX_ENDING = 127 };

static int pits, width, home, half; /* home: the place of the kalah, in bits */
static side field, row;             /* the bits of the first pit, and of all pits */
static struct sowing *sowings;      /* of pit p and n stones: at p << width | n */

static uint64_t nodes;

#define INLINED static inline __attribute__((always_inline))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Lay out the sides for so many stones, and find out about all sowings, stone by stone. */
static int lay_out(int stones)
{
    width = 1;
    while (stones >> width)
        width++;
    home = pits * width;
    if (home + width > MAX_BITS)
        return 0;
    field = ((side)1 << width) - 1;
    row = ((side)1 << home) - 1;
    half = stones / 2;
    sowings = calloc((size_t)pits << width, sizeof *sowings);
    if (!sowings)
        return 0;
    for (int pit = 0; pit < pits; pit++) {
        struct sowing *of_pit = sowings + ((size_t)pit << width);
        side own = 0, opponent = 0;
        int last = pit, crossed = 0;
        for (int n = 1; n <= stones; n++) {
            last = last == 2 * pits ? 0 : last + 1;
            if (last <= pits) {
                own += (side)1 << last * width;
            } else {
                opponent += (side)1 << (last - pits - 1) * width;
                crossed = 1;
            }
            of_pit[n].own = own - ((side)n << pit * width);
            of_pit[n].opponent = opponent;
            of_pit[n].place = (last <= pits ? last : last - pits - 1) * width;
            of_pit[n].landing = last > pits ? OPPONENT : last < pits && crossed ? CROSSED : NOWHERE;
        }
    }
    return 1;
}

/* The number of the pit that a bit belongs to. */
INLINED int pit_at(int bit)
{
    int pit = 0;
    while ((bit -= width) >= 0)
        pit++;
    return pit;
}

INLINED void move(side *own, side *opponent, int pit, side stones)
{
    side mine = *own, theirs = *opponent;
    for (;;) {
        const struct sowing *sowing = &sowings[(side)pit << width | stones];
        int place = sowing->place;
        mine += sowing->own;
        theirs += sowing->opponent;
        if (sowing->landing == OPPONENT) {
            side taken = theirs >> place & field;
            while ((taken | 1) == 3) {
                theirs -= taken << place;
                mine += taken << home;
                place -= width;
                if (place < 0)
                    break;
                taken = theirs >> place & field;
            }
            break;
        }
        if (sowing->landing == NOWHERE)
            break;
        stones = mine >> place & field;
        if (stones == 1)
            break;
        pit = pit_at(place);
    }
    *own = mine;
    *opponent = theirs;
}

INLINED int stones_in(side pits_of_one)
{
    int stones = 0;
    for (pits_of_one &= row; pits_of_one; pits_of_one >>= width)
        stones += (int)(pits_of_one & field);
    return stones;
}

INLINED int is_over(side own, side opponent)
{
    return !(own & row) || (int)(opponent >> home) > half || (int)(own >> home) > half;
}

INLINED int difference(side own, side opponent)
{
    return (int)(own >> home) - (int)(opponent >> home);
}

/* The difference at the end: what is left on the other side counts, unless the majority has decided. */
static int payoff(side own, side opponent)
{
    int decided = (int)(opponent >> home) > half || (int)(own >> home) > half;
    return difference(own, opponent) - (decided ? 0 : stones_in(opponent));
}

static uint64_t perft(side own, side opponent, int depth)
{
    nodes++;
    if (depth == 0)
        return 1;
    if (is_over(own, opponent))
        return 0;
    uint64_t ways = 0;
    side rest = own;
    for (int pit = 0; pit < pits; pit++, rest >>= width)
        if (rest & field) {
            side mine = own, theirs = opponent;
            move(&mine, &theirs, pit, rest & field);
            ways += perft(theirs, mine, depth - 1);
        }
    return ways;
}

static int minimax(side own, side opponent, int depth)
{
    nodes++;
    if (is_over(own, opponent))
        return payoff(own, opponent);
    if (depth == 0)
        return difference(own, opponent);
    int best = INT32_MIN;
    side rest = own;
    for (int pit = 0; pit < pits; pit++, rest >>= width)
        if (rest & field) {
            side mine = own, theirs = opponent;
            move(&mine, &theirs, pit, rest & field);
            int value = -minimax(theirs, mine, depth - 1);
            best = MAX(best, value);
        }
    return best;
}

static int alphabeta(side own, side opponent, int depth, int alpha, int beta, int down)
{
    nodes++;
    if (is_over(own, opponent))
        return payoff(own, opponent);
    if (depth == 0)
        return difference(own, opponent);
    int best = INT32_MIN;
    for (int number = 0; number < pits; number++) {
        int pit = down ? pits - 1 - number : number;
        side stones = own >> pit * width & field;
        if (!stones)
            continue;
        side mine = own, theirs = opponent;
        move(&mine, &theirs, pit, stones);
        int value = -alphabeta(theirs, mine, depth - 1, -beta, -MAX(alpha, best), down);
        best = MAX(best, value);
        if (best >= beta)
            break;
    }
    return best;
}

/* The same with a table: principal variation search, deeper and deeper. An entry holds for the depth
 * to which it was searched, so that the value is that of minimax. */

enum { LOWER = 1, UPPER = 2, BUCKETS = 1 << 18, BUCKET = 4, MAX_DEPTH = 63 };

struct known {
    side own, opponent;
    int16_t value;
    int8_t kind, move, depth, year;
};

static struct known (*positions)[BUCKET];
static int killers[MAX_DEPTH + 1][2];
static uint64_t history[MAX_PITS];

INLINED struct known *bucket_of(side own, side opponent)
{
    uint64_t mixed = (own ^ opponent << 21 ^ opponent >> 43) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u;
    return positions[(mixed ^ mixed >> 32) & (BUCKETS - 1)];
}

static void keep(side own, side opponent, int value, int kind, int move, int depth, int year)
{
    struct known *bucket = bucket_of(own, opponent), *place = bucket;
    int least = INT32_MAX;
    for (int k = 0; k < BUCKET; k++) {
        int is_same = bucket[k].own == own && bucket[k].opponent == opponent;
        int worth = is_same || !bucket[k].kind ? -1 : bucket[k].depth + (bucket[k].year == year) * 256;
        if (worth < least) {
            place = bucket + k;
            least = worth;
        }
        if (is_same)
            break;
    }
    *place = (struct known){own, opponent, (int16_t)value, (int8_t)kind, (int8_t)move, (int8_t)depth, (int8_t)year};
}

static int principal(side own, side opponent, int depth, int alpha, int beta, int year)
{
    nodes++;
    if (is_over(own, opponent))
        return payoff(own, opponent);
    if (depth == 0)
        return difference(own, opponent);
    struct known *bucket = bucket_of(own, opponent);
    int first = -1;
    for (int k = 0; k < BUCKET; k++)
        if (bucket[k].kind && bucket[k].own == own && bucket[k].opponent == opponent) {
            int value = bucket[k].value, kind = bucket[k].kind;
            first = bucket[k].move;
            if (bucket[k].depth == depth
                && (kind == (LOWER | UPPER) || (kind == LOWER && value >= beta) || (kind == UPPER && value <= alpha)))
                return value;
        }
    int waiting[MAX_PITS], count = 0, best = INT32_MIN, move_of_best = -1, low = alpha;
    uint64_t promises[MAX_PITS];
    for (int pit = 0; pit < pits; pit++)
        if (own >> pit * width & field) {
            uint64_t promise = history[pit];
            if (pit == killers[depth][0] || pit == killers[depth][1])
                promise += (uint64_t)1 << (pit == killers[depth][0] ? 61 : 60);
            promises[count] = pit == first ? UINT64_MAX : promise;
            waiting[count++] = pit;
        }
    for (int done = 0; done < count && best < beta; done++) {
        int next = done;
        for (int k = done + 1; k < count; k++)
            if (promises[k] > promises[next])
                next = k;
        int pit = waiting[next];
        waiting[next] = waiting[done];
        promises[next] = promises[done];
        side mine = own, theirs = opponent;
        move(&mine, &theirs, pit, own >> pit * width & field);
        int value = -principal(theirs, mine, depth - 1, done ? -low - 1 : -beta, -low, year);
        if (done && value > low && value < beta)
            value = -principal(theirs, mine, depth - 1, -beta, -value, year);
        if (value > best) {
            best = value;
            move_of_best = pit;
        }
        low = MAX(low, best);
    }
    if (best >= beta) {
        history[move_of_best] += (uint64_t)depth * depth;
        if (killers[depth][0] != move_of_best) {
            killers[depth][1] = killers[depth][0];
            killers[depth][0] = move_of_best;
        }
    }
    keep(own, opponent, best, best >= beta ? LOWER : best > alpha ? LOWER | UPPER : UPPER, move_of_best, depth, year);
    return best;
}

static int deepening(side own, side opponent, int depth)
{
    int value = difference(own, opponent);
    positions = calloc(BUCKETS, sizeof *positions);
    if (!positions) {
        fprintf(stderr, "no memory for a table\n");
        exit(1);
    }
    memset(killers, -1, sizeof killers);
    for (int down = 1; down <= depth; down++)
        value = principal(own, opponent, down, -INT16_MAX, INT16_MAX, down);
    return value;
}

/* Tables of endings, with the boards in the order of their ranks. */

static uint64_t choose[2 * MAX_PITS][MAX_ENDING + 2]; /* C(n + j, j + 1) at [j][n] */
static uint64_t begin[MAX_ENDING + 2];                /* the boards with so many stones */
static uint64_t before[MAX_PITS][MAX_ENDING + 1][MAX_ENDING + 1];
static side ones; /* one stone in each pit */
static int8_t *table;

/* The rank of a board, and its stones, from its rows without what lies in the kalahs. */
INLINED uint64_t rank_of(side own, side opponent, int *stones)
{
    side sums = (own + opponent) * ones; /* in field k, what lies in the pairs up to k */
    uint64_t rank = 0, ways = 1;
    int place = home - width;
    side total = sums >> place & field;
    *stones = (int)total;
    for (int pair = pits - 1; pair > 0; pair--, place -= width) {
        side below = sums >> (place - width) & field;
        rank += ways * (before[pair][total][below] + (own >> place & field));
        ways *= total - below + 1;
        total = below;
    }
    return rank + ways * (own & field);
}

/* Take the board with the next rank. */
INLINED void next_board(side *own, side *opponent)
{
    int place = home - width;
    for (; place >= 0; place -= width) {
        side mine = *own & field << place;
        if (*opponent >> place & field) {
            *own += (side)1 << place;
            *opponent -= (side)1 << place;
            return;
        }
        *own -= mine;
        *opponent += mine;
    }
    /* All stones are the opponent's now: one goes a pair back, and those of the first pair with it. */
    side first = *opponent & field;
    place = width;
    while (place < home && !(*opponent >> place & field))
        place += width;
    if (place < home)
        *opponent += ((first + 1) << (place - width)) - first - ((side)1 << place);
}

static int prepare_ranks(int most)
{
    for (int pit = 0; pit < pits; pit++)
        ones |= (side)1 << pit * width;
    for (int j = 0; j < 2 * pits; j++)
        for (int n = 1; n <= most + 1; n++)
            choose[j][n] = choose[j][n - 1] + (j ? choose[j - 1][n] : 1);
    for (int stones = 0; stones <= most; stones++) {
        begin[stones + 1] = begin[stones] + choose[2 * pits - 2][stones + 1];
        if (begin[stones + 1] > (uint64_t)1 << 40)
            return 0;
    }
    for (int pair = 1; pair < pits; pair++)
        for (int total = 0; total <= most; total++)
            for (int below = 0; below < total; below++)
                before[pair][total][below + 1] = before[pair][total][below]
                    + (uint64_t)(total - below + 1) * choose[2 * pair - 2][below + 1];
    table = malloc(begin[most + 1]);
    if (table)
        memset(table, 0, begin[most + 1]); /* so that the system provides the pages now */
    return table != NULL;
}

/* What a board of so many stones is worth to the mover. */
INLINED int8_t value_of(side own, side opponent, int stones)
{
    if (!own)
        return (int8_t)-stones;
    int best = INT8_MIN;
    side rest = own;
    for (int pit = 0; pit < pits; pit++, rest >>= width) {
        if (!(rest & field))
            continue;
        side mine = own, theirs = opponent;
        move(&mine, &theirs, pit, rest & field);
        int value = (int)(mine >> home), left;
        mine &= row;
        if (theirs) {
            uint64_t rank = rank_of(theirs, mine, &left);
            value -= table[begin[left] + rank];
        } else {
            value = stones;
        }
        best = MAX(best, value);
    }
    return (int8_t)best;
}

static void value_one_by_one(int most)
{
    for (int stones = 0; stones <= most; stones++) {
        side own = 0, opponent = (side)stones << (home - width);
        for (uint64_t place = begin[stones]; place < begin[stones + 1]; place++) {
            table[place] = value_of(own, opponent, stones);
            next_board(&own, &opponent);
        }
    }
}

/* The same for all rows across at once. Rows of pits have numbers: those with fewer stones first, of equally many those that
 * are nearer to the kalah, all stones together. Boards of m stones stand by the stones in the mover's
 * row, by that row, and by the opponent's. They are valued by rising distance of all stones from the
 * kalahs: a move that keeps all stones in play lowers it, so what it leads to is known. */

struct entry { /* what stones on the opponent's first pits make of a row */
    uint32_t row;
    int taken;
};

struct choice { /* a move of a row that ends before the own side is reached again */
    uint32_t row;
    int gain, across; /* stones into the kalah, and onto the other side */
};

static uint64_t part[MAX_ENDING + 1][MAX_ENDING + 1]; /* boards with so many stones, so many the mover's */
static uint32_t first_row[MAX_ENDING + 2];                               /* with so many stones */
static uint32_t group[MAX_ENDING + 1][MAX_PITS * MAX_ENDING + 2];        /* and at such a distance */
static side *rows;
static uint32_t *row_of_rank; /* from the combinatorial rank, counted from `first_row` */
static struct entry *entries; /* of row r and so many stones at r * (pits + 1) + stones */

INLINED uint64_t rows_with(int stones)
{
    return first_row[stones + 1] - first_row[stones];
}

/* The number of a row of so many stones. */
INLINED uint32_t row_number(side pits_of_one, int stones)
{
    uint64_t rank = 0;
    int sum = 0;
    for (int j = 0; j < pits - 1; j++, pits_of_one >>= width) {
        sum += (int)(pits_of_one & field);
        rank += choose[j][sum];
    }
    return row_of_rank[first_row[stones] + rank];
}

INLINED uint64_t place_of(int m, int own_stones, uint32_t own, uint32_t opponent)
{
    int stones = m - own_stones;
    return begin[m] + part[m][own_stones] + (own - first_row[own_stones]) * rows_with(stones)
        + (opponent - first_row[stones]);
}

/* Take the next of some fields with as many stones, in the order of ranks: of the first one that holds
 * stones, field 0 apart, one goes to the field before it, and so do all stones of field 0. */
static int next_distribution(int *fields, int count)
{
    int next = 1, first = fields[0];
    while (next < count && !fields[next])
        next++;
    if (next == count)
        return 0;
    fields[0] = 0;
    fields[next]--;
    fields[next - 1] = first + 1;
    return 1;
}

static side packed(const int *fields)
{
    side pits_of_one = 0;
    for (int pit = 0; pit < pits; pit++)
        pits_of_one |= (side)fields[pit] << pit * width;
    return pits_of_one;
}

static int distance(const int *fields)
{
    int sum = 0;
    for (int pit = 0; pit < pits; pit++)
        sum += fields[pit] * (pits - pit);
    return sum;
}

/* Number the rows with so many stones, once to count them and once to place them. */
static void number_rows(int stones)
{
    int longest = stones * pits;
    uint32_t *starts = group[stones];
    for (int placing = 0; placing < 2; placing++) {
        int fields[MAX_PITS] = {0};
        fields[pits - 1] = stones;
        uint32_t rank = 0;
        do {
            int d = distance(fields);
            if (placing) {
                rows[starts[d]] = packed(fields);
                row_of_rank[first_row[stones] + rank++] = starts[d]++;
            } else {
                starts[d + 1]++;
            }
        } while (next_distribution(fields, pits));
        if (!placing) {
            starts[0] = first_row[stones];
            for (int d = 1; d <= longest + 1; d++)
                starts[d] += starts[d - 1];
        }
    }
    for (int d = longest + 1; d > 0; d--) /* placing has moved each start to the next one */
        starts[d] = starts[d - 1];
    starts[0] = first_row[stones];
}

/* Find out what up to `pits` stones do on the other side, as far as there are so many. */
static void enter_all(int most)
{
    for (int stones = 0; stones <= most; stones++)
        for (uint32_t row = first_row[stones]; row < first_row[stones + 1]; row++)
            for (int across = 1; across <= pits && stones + across <= most; across++) {
                side after = rows[row];
                int taken = 0;
                for (int pit = 0; pit < across; pit++)
                    after += (side)1 << pit * width;
                for (int place = (across - 1) * width; place >= 0; place -= width) {
                    side here = after >> place & field;
                    if ((here | 1) != 3)
                        break;
                    after -= here << place;
                    taken += (int)here;
                }
                struct entry *entry = &entries[(size_t)row * (size_t)(pits + 1) + (size_t)across];
                entry->taken = taken;
                entry->row = row_number(after, stones + across - taken);
            }
}

/* Count rows, and make room for them. */
static int prepare_rows(int most)
{
    for (int stones = 0; stones <= most; stones++) {
        uint64_t count = pits > 1 ? choose[pits - 2][stones + 1] : 1;
        if (first_row[stones] + count > UINT32_MAX / 2)
            return 0;
        first_row[stones + 1] = first_row[stones] + (uint32_t)count;
    }
    for (int m = 0; m <= most; m++)
        for (int stones = 0; stones < m; stones++)
            part[m][stones + 1] = part[m][stones] + rows_with(stones) * rows_with(m - stones);
    size_t count = first_row[most + 1];
    rows = calloc(count, sizeof *rows);
    row_of_rank = calloc(count, sizeof *row_of_rank);
    entries = calloc(count * (size_t)(pits + 1), sizeof *entries);
    return rows && row_of_rank && entries;
}

/* Better `best`, for all rows of the opponent from `from` on, by a move that ends on its way. */
INLINED void try_choice(int8_t *best, struct choice choice, int m, int theirs, uint32_t from,
                        uint32_t to)
{
    int mine = m - theirs - choice.gain - choice.across;
    if (choice.across == 0) {
        const int8_t *of_first = table + place_of(m - choice.gain, theirs, from, choice.row);
        size_t step = rows_with(mine);
        for (uint32_t row = 0; row < to - from; row++) {
            int8_t value = (int8_t)(choice.gain - of_first[row * step]);
            best[row] = MAX(best[row], value);
        }
        return;
    }
    const struct entry *entry = entries + (size_t)from * (size_t)(pits + 1) + (size_t)choice.across;
    for (uint32_t row = 0; row < to - from; row++, entry += pits + 1) {
        int gain = choice.gain + entry->taken;
        int there = theirs + choice.across - entry->taken;
        int8_t value =
            (int8_t)(gain - table[place_of(m - gain, there, entry->row, choice.row)]);
        best[row] = MAX(best[row], value);
    }
}

/* The same by any other move, each one made by itself. */
static void try_moves(int8_t *best, side own, int pit, int m, uint32_t from, uint32_t to)
{
    for (uint32_t row = from; row < to; row++) {
        side mine = own, theirs = rows[row];
        move(&mine, &theirs, pit, own >> pit * width & field);
        int gain = (int)(mine >> home), there = stones_in(theirs);
        int8_t value = (int8_t)(gain
            - table[place_of(m - gain, there, row_number(theirs, there),
                             row_number(mine & ~(field << home), m - gain - there))]);
        best[row - from] = MAX(best[row - from], value);
    }
}

/* Value the boards of m stones with this row of the mover and these of the opponent. */
static void value_boards(int m, int stones, uint32_t own, uint32_t from, uint32_t to)
{
    int8_t *best = table + place_of(m, stones, own, from);
    memset(best, stones ? INT8_MIN : -m, to - from);
    for (int pit = 0; pit < pits; pit++) {
        side held = rows[own] >> pit * width & field;
        if (!held)
            continue;
        int over = (int)held - (pits - pit); /* stones after the own kalah */
        if (over > pits) {
            try_moves(best, rows[own], pit, m, from, to);
            continue;
        }
        side after = (rows[own] + sowings[(side)pit << width | held].own) & row;
        struct choice choice = {.gain = over >= 0, .across = MAX(over, 0)};
        choice.row = row_number(after, stones - choice.gain - choice.across);
        try_choice(best, choice, m, m - stones, from, to);
    }
}

static void value_by_rows(int most)
{
    for (int stones = 0; stones <= most; stones++)
        number_rows(stones);
    enter_all(most);
    for (int m = 0; m <= most; m++)
        for (int far = m; far <= m * pits; far++)
            for (int stones = 0; stones <= m; stones++)
                for (int own_far = stones; own_far <= stones * pits; own_far++) {
                    int their_far = far - own_far, theirs = m - stones;
                    if (their_far < theirs || their_far > theirs * pits)
                        continue;
                    const uint32_t *mine = &group[stones][own_far], *others = &group[theirs][their_far];
                    for (uint32_t own = mine[0]; own < mine[1] && others[0] < others[1]; own++)
                        value_boards(m, stones, own, others[0], others[1]);
                }
}

/* Put the table into the order of the ranks of boards. */
static int8_t *in_order(int most)
{
    int8_t *ordered = malloc(begin[most + 1]);
    for (int m = 0; ordered && m <= most; m++) {
        side own = 0, opponent = (side)m << (home - width);
        for (uint64_t place = begin[m]; place < begin[m + 1]; place++) {
            int stones = stones_in(own);
            ordered[place] = table[place_of(m, stones, row_number(own, stones),
                                            row_number(opponent, m - stones))];
            next_board(&own, &opponent);
        }
    }
    return ordered;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int search(const char *mode, int stones, int depth, int down)
{
    side full = 0;
    for (int pit = 0; pit < pits; pit++)
        full |= (side)stones << pit * width;
    const char *what = "value";
    double began = seconds();
    int64_t found;
    if (mode[0] == 'p') {
        what = "leaves";
        found = (int64_t)perft(full, full, depth);
    } else if (mode[0] == 'm') {
        found = minimax(full, full, depth);
    } else if (mode[0] == 'd') {
        found = deepening(full, full, depth);
    } else {
        found = alphabeta(full, full, depth, -INT32_MAX, INT32_MAX, down);
    }
    double took = seconds() - began;
    printf("{\"%s\": %" PRId64 ", \"nodes\": %" PRIu64 ", \"seconds\": %.6f, "
           "\"nodes_per_second\": %.0f}\n", what, found, nodes, took, (double)nodes / took);
    return EXIT_SUCCESS;
}

static int endings(int stones, int by_rows, const char *path)
{
    if (!prepare_ranks(stones) || (by_rows && !prepare_rows(stones))) {
        fprintf(stderr, "mancala: no memory for so many boards\n");
        return EXIT_FAILURE;
    }
    uint64_t boards = begin[stones + 1];
    double began = seconds();
    if (by_rows)
        value_by_rows(stones);
    else
        value_one_by_one(stones);
    double took = seconds() - began;
    int8_t *ordered = by_rows ? in_order(stones) : table;
    if (!ordered) {
        fprintf(stderr, "mancala: no memory to put the boards into order\n");
        return EXIT_FAILURE;
    }
    uint64_t checksum = 0;
    for (uint64_t place = 0; place < boards; place++)
        checksum = checksum * 1099511628211u ^ (uint8_t)ordered[place];
    printf("{\"boards\": %" PRIu64 ", \"checksum\": %" PRIu64 ", \"seconds\": %.6f, "
           "\"boards_per_second\": %.0f}\n", boards, checksum, took, (double)boards / took);
    if (!path)
        return EXIT_SUCCESS;
    FILE *file = fopen(path, "wb");
    int complete = file && fwrite(ordered, 1, boards, file) == boards;
    if (file && fclose(file))
        complete = 0;
    if (!complete)
        perror(path);
    return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int by_rows = !strcmp(mode, "endings"), is_table = by_rows || !strcmp(mode, "endings-plain");
    int is_tree = !strcmp(mode, "perft") || !strcmp(mode, "minimax") || !strcmp(mode, "alphabeta")
        || !strcmp(mode, "deepening");
    int least = is_table ? 4 : 5;
    int down = is_tree && mode[0] == 'a' && argc == 6 && !strcmp(argv[5], "down");
    pits = argc > 2 ? atoi(argv[2]) : 0;
    int stones = argc > 3 ? atoi(argv[3]) : -1, depth = argc > 4 ? atoi(argv[4]) : -1;
    if ((!is_table && !is_tree) || argc < least || argc > least + (is_table || down) || pits < 1
        || pits > MAX_PITS || stones < !is_table || stones > 511
        || (is_table ? stones > MAX_ENDING : depth < 0) || (mode[0] == 'd' && depth > MAX_DEPTH)
        || !lay_out(is_table ? stones : 2 * pits * stones)) {
        fprintf(stderr,
                "usage: %s perft|minimax PITS STONES DEPTH\n"
                "       %s alphabeta PITS STONES DEPTH [down]\n"
                "       %s deepening PITS STONES DEPTH\n"
                "       %s endings|endings-plain PITS STONES [TABLE]\n"
                "with PITS >= 1, STONES >= 1 (in tables 0 to %d) and DEPTH >= 0, where PITS + 1 fields "
                "for all stones fit into %d bits\n",
                argv[0], argv[0], argv[0], argv[0], MAX_ENDING, MAX_BITS);
        return 2;
    }
    return is_table ? endings(stones, by_rows, argc > 4 ? argv[4] : NULL) : search(mode, stones, depth, down);
}
