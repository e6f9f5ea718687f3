#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define STEPS 64
#define RATE 0.02f
#define VOLATILITY 0.3f

static float normal_cdf(float x) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float series =
        k * (0.31938153f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * x * x) * series;
    return x > 0.0f ? 1.0f - tail : tail;
}

void black_scholes(const float *restrict price, const float *restrict strike,
                   const float *restrict years, float *restrict call, float *restrict put,
                   int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float root = VOLATILITY * sqrtf(years[i]);
        float drift = (RATE + 0.5f * VOLATILITY * VOLATILITY) * years[i];
        float d1 = (logf(price[i] / strike[i]) + drift) / root;
        float d2 = d1 - root;
        float discounted = strike[i] * expf(-RATE * years[i]);
        call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
        put[i] = discounted * (1.0f - normal_cdf(d2)) - price[i] * (1.0f - normal_cdf(d1));
    }
}

void binomial_american(float up, float keep, float chance, const float *restrict price,
                       const float *restrict strike, float *restrict put, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float value[STEPS + 1];
        float down = 1.0f / up, lowest = price[i];
        for (int k = 0; k < STEPS; k++)
            lowest *= down;
        float here = lowest;
        for (int k = 0; k < STEPS + 1; k++) {
            float gain = strike[i] - here;
            value[k] = gain > 0.0f ? gain : 0.0f;
            here *= up * up;
        }
        for (int step = STEPS - 1; step >= 0; step--) {
            lowest *= up;
            here = lowest;
            for (int k = 0; k < step + 1; k++) {
                float held = keep * (chance * value[k + 1] + (1.0f - chance) * value[k]);
                float gain = strike[i] - here;
                value[k] = held > gain ? held : gain;
                here *= up * up;
            }
        }
        put[i] = value[0];
    }
}

void asian_paths(int64_t days, const uint32_t *restrict seed, float strike,
                 float *restrict payoff, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t state = seed[i];
        float price = 100.0f, total = 0.0f;
        for (int64_t day = 0; day < days; day++) {
            float noise = -3.0f;
            for (int k = 0; k < 6; k++) {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                noise += (float)(state >> 8) * (1.0f / 16777216.0f);
            }
            price *= 1.0f + 0.0001f + 0.02f * 1.4142135f * noise;
            total += price;
        }
        float gain = total / (float)days - strike;
        payoff[i] = gain > 0.0f ? gain : 0.0f;
    }
}

void monte_carlo(const uint32_t *restrict seed, int64_t draws, float price, float strike,
                 float *restrict mean, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t state = seed[i];
        float total = 0.0f;
        for (int64_t k = 0; k < draws; k++) {
            state = state * 1664525u + 1013904223u;
            float u = ((float)(state >> 8) + 0.5f) / 16777216.0f;
            state = state * 1664525u + 1013904223u;
            float v = (float)(state >> 8) / 16777216.0f;
            float normal = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
            float end = price * expf(RATE - 0.5f * VOLATILITY * VOLATILITY + VOLATILITY * normal);
            total += end - strike > 0.0f ? end - strike : 0.0f;
        }
        mean[i] = total / (float)draws;
    }
}

void bond_yields(const float *restrict coupon, const uint32_t *restrict periods,
                 const float *restrict price, float *restrict rate, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float y = 0.05f;
        for (int k = 0; k < 8; k++) {
            float factor = 1.0f / (1.0f + y);
            float power = 1.0f, value = 0.0f, slope = 0.0f;
            for (uint32_t t = 1; t < periods[i] + 1; t++) {
                power *= factor;
                value += coupon[i] * power;
                slope -= (float)t * coupon[i] * power * factor;
            }
            value += 100.0f * power;
            slope -= (float)periods[i] * 100.0f * power * factor;
            y -= (value - price[i]) / slope;
        }
        rate[i] = y;
    }
}

void drawdown(const float *restrict prices, float *restrict worst, uint32_t *restrict length,
              int64_t n, int64_t days) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float peak = prices[i * days], fall = 0.0f;
        uint32_t since = 0, longest = 0;
        for (int64_t t = 1; t < days; t++) {
            float p = prices[i * days + t];
            if (p > peak) {
                peak = p;
                since = 0;
            } else {
                since++;
                longest = since > longest ? since : longest;
                float part = (peak - p) / peak;
                fall = part > fall ? part : fall;
            }
        }
        worst[i] = fall;
        length[i] = longest;
    }
}

void ema_crossings(float fast, float slow, const float *restrict prices, uint32_t *restrict trades,
                   float *restrict gain, int64_t n, int64_t days) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float quick = prices[i * days], late = quick;
        bool holding = false;
        float bought = 0.0f, profit = 0.0f;
        uint32_t count = 0;
        for (int64_t t = 1; t < days; t++) {
            float p = prices[i * days + t];
            quick += fast * (p - quick);
            late += slow * (p - late);
            if (quick > late && !holding) {
                holding = true;
                bought = p;
                count++;
            } else if (quick < late && holding) {
                holding = false;
                profit += p - bought;
            }
        }
        trades[i] = count;
        gain[i] = profit;
    }
}
