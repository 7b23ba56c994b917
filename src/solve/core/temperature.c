#include "solve/core/temperature.h"

#include <math.h>

#include "base/random.h"

/* Over the whole run the price can rise or fall by e to this power. */
static const double PRICE_RATE = 18;

double rp_initial_temperature(double share) {
    double temperature = 1.5 * share;
    return temperature < 0.01 ? 0.01 : temperature > 6 ? 6 : temperature;
}

void rp_temperature_init(struct rp_temperature *t, double initial_ns, double final_share,
                         double price) {
    *t = (struct rp_temperature){
        .initial_ns = initial_ns, .final_share = final_share, .price = price};
}

void rp_temperature_update(struct rp_temperature *t, double progress, double overflow) {
    double step = PRICE_RATE * (progress - t->progress);
    t->now_ns = t->initial_ns * pow(t->final_share, progress);
    t->price *= exp(overflow > 0 ? step : -step);
    t->progress = progress;
}

double rp_temperature_max_rise(const struct rp_temperature *t, uint64_t *random) {
    return -t->now_ns * log(1 - rp_random_unit(random));
}
