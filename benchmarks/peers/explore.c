/* Breadth-first exploration of two games into sparse arrays, as fast as plain C can.
 *
 *     cc -O3 -march=native -o explore explore.c
 *     ./explore wubbel GOAL
 *     ./explore grid SIZE
 *
 * Makes the arrays that a gamedp model consists of, with states numbered in the order of their
 * discovery. A state is packed into one word, bits for each field; a hash table with open
 * addressing leads from a word to the state's number. The rules are written for this loop alone,
 * and nothing is checked: the probabilities are known to be right.
 *
 * `wubbel` is the game for two with a die of six faces, the six busting, seen by the player to move; a
 * probability is negative where the players change places. `grid` is a walk on SIZE times SIZE
 * fields from one corner to the opposite one: a step goes where it should with probability 0.8, and
 * to either side with 0.1 each; a wall keeps in place; a step costs 1.
 *
 * Prints one JSON object: the numbers of states, choices, transitions and terminal states, the sums
 * of rewards and payoffs, a checksum over all transitions that does not depend on the numbers of
 * the states (see `checksum`), and the seconds of processor time that the exploration took.
 */

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIELD_BITS = 16,
    MAX_CHOICES = 4,     /* of a state */
    MAX_TRANSITIONS = 12 /* of a state */
};

struct slot {
    uint64_t code;
    int64_t state; /* -1 where the slot is free */
};

struct model {
    int size; /* the goal, or the side of the grid */
    size_t states, choices, transitions, terminals;
    size_t room_states, room_choices, room_transitions, room_terminals;
    /* one for each state */
    uint64_t *codes;
    int64_t *choice_offsets;
    int8_t *players;
    /* one for each choice */
    int64_t *transition_offsets;
    double *rewards;
    int8_t *labels;
    /* one for each transition */
    int32_t *successors;
    double *probabilities;
    /* one for each terminal state */
    int64_t *terminal_states;
    double *payoffs;

    struct slot *table;
    int shift; /* 64 less the binary logarithm of the table's length */
};

static void *resized(void *memory, size_t count, size_t size)
{
    memory = realloc(memory, count * size);
    if (!memory) {
        fprintf(stderr, "explore: no memory for %zu items of %zu bytes\n", count, size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

static size_t first_slot(const struct model *model, uint64_t code)
{
    return (code * UINT64_C(0x9E3779B97F4A7C15)) >> model->shift;
}

/* Make an empty table of 2^bits slots and enter all known states. */
static void rehash(struct model *model, int bits)
{
    size_t length = (size_t)1 << bits, mask = length - 1;
    free(model->table);
    model->table = resized(NULL, length, sizeof *model->table);
    model->shift = 64 - bits;
    for (size_t slot = 0; slot < length; slot++)
        model->table[slot].state = -1;
    for (size_t state = 0; state < model->states; state++) {
        size_t slot = first_slot(model, model->codes[state]);
        while (model->table[slot].state >= 0)
            slot = (slot + 1) & mask;
        model->table[slot] = (struct slot){model->codes[state], (int64_t)state};
    }
}

static void make_room(struct model *model)
{
    if (model->states + MAX_TRANSITIONS >= model->room_states) {
        size_t room = model->room_states = 2 * model->room_states + 1024;
        model->codes = resized(model->codes, room, sizeof *model->codes);
        model->choice_offsets = resized(model->choice_offsets, room, sizeof *model->choice_offsets);
        model->players = resized(model->players, room, sizeof *model->players);
    }
    if (model->choices + MAX_CHOICES >= model->room_choices) {
        size_t room = model->room_choices = 2 * model->room_choices + 1024;
        model->transition_offsets =
            resized(model->transition_offsets, room, sizeof *model->transition_offsets);
        model->rewards = resized(model->rewards, room, sizeof *model->rewards);
        model->labels = resized(model->labels, room, sizeof *model->labels);
    }
    if (model->transitions + MAX_TRANSITIONS >= model->room_transitions) {
        size_t room = model->room_transitions = 2 * model->room_transitions + 1024;
        model->successors = resized(model->successors, room, sizeof *model->successors);
        model->probabilities = resized(model->probabilities, room, sizeof *model->probabilities);
    }
    if (model->terminals + 1 >= model->room_terminals) {
        size_t room = model->room_terminals = 2 * model->room_terminals + 1024;
        model->terminal_states = resized(model->terminal_states, room, sizeof *model->terminal_states);
        model->payoffs = resized(model->payoffs, room, sizeof *model->payoffs);
    }
    if (2 * (model->states + MAX_TRANSITIONS) > (size_t)1 << (64 - model->shift))
        rehash(model, 64 - model->shift + 1);
}

/* Return the number of a state, a new one if it was not known. */
static inline int32_t number_of(struct model *model, uint64_t code)
{
    size_t mask = ((size_t)1 << (64 - model->shift)) - 1;
    size_t slot = first_slot(model, code);
    while (model->table[slot].state >= 0) {
        if (model->table[slot].code == code)
            return (int32_t)model->table[slot].state;
        slot = (slot + 1) & mask;
    }
    model->table[slot] = (struct slot){code, (int64_t)model->states};
    model->codes[model->states] = code;
    return (int32_t)model->states++;
}

/* Add an outcome to the choice that is being written. */
static inline void add_outcome(struct model *model, double probability, uint64_t code)
{
    int32_t successor = number_of(model, code);
    for (size_t t = (size_t)model->transition_offsets[model->choices]; t < model->transitions; t++)
        if (model->successors[t] == successor
            && (model->probabilities[t] < 0) == (probability < 0)) {
            model->probabilities[t] += probability;
            return;
        }
    model->successors[model->transitions] = successor;
    model->probabilities[model->transitions++] = probability;
}

static inline void end_choice(struct model *model, int label, double reward)
{
    model->labels[model->choices] = (int8_t)label;
    model->rewards[model->choices++] = reward;
    model->transition_offsets[model->choices] = (int64_t)model->transitions;
}

static inline void add_terminal(struct model *model, size_t state, double payoff)
{
    model->terminal_states[model->terminals] = (int64_t)state;
    model->payoffs[model->terminals++] = payoff;
}

static inline uint64_t code_of(int first, int second, int third)
{
    return (uint64_t)first | (uint64_t)second << FIELD_BITS | (uint64_t)third << 2 * FIELD_BITS;
}

static inline int field(uint64_t code, int number)
{
    return (int)(code >> number * FIELD_BITS & ((1 << FIELD_BITS) - 1));
}

static void expand_wubbel(struct model *model, size_t state)
{
    enum { FACES = 6, ROLL = 0, SAVE = 1 };
    uint64_t code = model->codes[state];
    int own = field(code, 0), opponent = field(code, 1), turn = field(code, 2);
    int missing = model->size - own;

    if (turn >= missing) {
        add_terminal(model, state, 1);
        return;
    }
    for (int face = 1; face < FACES; face++) {
        int points = turn + face < missing ? turn + face : missing;
        add_outcome(model, 1.0 / FACES, code_of(own, opponent, points));
    }
    add_outcome(model, -1.0 / FACES, code_of(opponent, own, 0));
    end_choice(model, ROLL, 0);
    if (turn > 0) {
        add_outcome(model, -1, code_of(opponent, own + turn, 0));
        end_choice(model, SAVE, 0);
    }
}

/* Return the field beside another one, in direction 0 to 3, or that one itself at a wall. */
static inline uint64_t beside(int row, int column, int direction, int size)
{
    row += (direction == 2) - (direction == 0);
    column += (direction == 1) - (direction == 3);
    row = row < 0 ? 0 : row == size ? size - 1 : row;
    column = column < 0 ? 0 : column == size ? size - 1 : column;
    return code_of(row, column, 0);
}

static void expand_grid(struct model *model, size_t state)
{
    uint64_t code = model->codes[state];
    int row = field(code, 0), column = field(code, 1), size = model->size;

    if (row == size - 1 && column == size - 1) {
        add_terminal(model, state, 0);
        return;
    }
    for (int direction = 0; direction < 4; direction++) {
        add_outcome(model, 0.8, beside(row, column, direction, size));
        add_outcome(model, 0.1, beside(row, column, (direction + 1) % 4, size));
        add_outcome(model, 0.1, beside(row, column, (direction + 3) % 4, size));
        end_choice(model, direction, -1);
    }
}

static void explore(struct model *model, void (*expand)(struct model *, size_t))
{
    rehash(model, 16);
    make_room(model);
    model->choice_offsets[0] = 0;
    model->transition_offsets[0] = 0;
    number_of(model, code_of(0, 0, 0));
    for (size_t state = 0; state < model->states; state++) {
        make_room(model);
        expand(model, state);
        model->players[state] = 0;
        model->choice_offsets[state + 1] = (int64_t)model->choices;
    }
}

/* Scramble a word (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). */
static uint64_t mixed(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    return word ^ word >> 31;
}

/* The sum over all transitions, modulo 2^64, of their scrambled states, label and probability. */
static uint64_t checksum(const struct model *model)
{
    uint64_t sum = 0;
    for (size_t state = 0; state < model->states; state++)
        for (int64_t c = model->choice_offsets[state]; c < model->choice_offsets[state + 1]; c++)
            for (int64_t t = model->transition_offsets[c]; t < model->transition_offsets[c + 1]; t++) {
                uint64_t bits;
                memcpy(&bits, &model->probabilities[t], sizeof bits);
                uint64_t word = mixed(model->codes[state]) + (uint64_t)model->labels[c];
                word = mixed(word) + model->codes[model->successors[t]];
                sum += mixed(mixed(word) + bits);
            }
    return sum;
}

static double total(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += numbers[k];
    return sum;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int is_wubbel = argc == 3 && !strcmp(argv[1], "wubbel");
    int is_grid = argc == 3 && !strcmp(argv[1], "grid");
    int size = argc == 3 ? atoi(argv[2]) : 0;
    if (!(is_wubbel || is_grid) || size < 1 || size > 10000) {
        fprintf(stderr, "usage: %s wubbel|grid SIZE, with 1 <= SIZE <= 10000\n", argv[0]);
        return 2;
    }
    struct model model = {.size = size, .shift = 64};

    double began = seconds();
    explore(&model, is_wubbel ? expand_wubbel : expand_grid);
    double took = seconds() - began;

    printf("{\"states\": %zu, \"choices\": %zu, \"transitions\": %zu, \"terminals\": %zu, "
           "\"rewards\": %.17g, \"payoffs\": %.17g, \"checksum\": \"%016" PRIx64 "\", "
           "\"seconds\": %.6f}\n",
           model.states, model.choices, model.transitions, model.terminals,
           total(model.rewards, model.choices), total(model.payoffs, model.terminals),
           checksum(&model), took);
    return EXIT_SUCCESS;
}
