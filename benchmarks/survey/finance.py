"""Finance: prices of options and bonds, risk, and statistics over series of prices."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

STEPS = 64
RATE = 0.02
VOLATILITY = 0.3


@vy.func
def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    series = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = 0.39894228 * vy.math.exp(-0.5 * x * x) * series
    return 1.0 - tail if x > 0.0 else tail


@vy.kernel
def black_scholes(
    price: vy.In[vy.f32],
    strike: vy.In[vy.f32],
    years: vy.In[vy.f32],
    call: vy.Out[vy.f32],
    put: vy.Out[vy.f32],
):
    i = vy.gid()
    if i < len(price):
        root = VOLATILITY * vy.math.sqrt(years[i])
        drift = (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i]
        d1 = (vy.math.log(price[i] / strike[i]) + drift) / root
        d2 = d1 - root
        discounted = strike[i] * vy.math.exp(-RATE * years[i])
        call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2)
        put[i] = discounted * (1.0 - normal_cdf(d2)) - price[i] * (1.0 - normal_cdf(d1))


def options(n: int) -> Arguments:
    return {
        "price": floats(n, seed=1, low=5.0, high=30.0),
        "strike": floats(n, seed=2, low=5.0, high=30.0),
        "years": floats(n, seed=3, low=0.25, high=5.0),
    }


def black_scholes_data(n: int) -> Arguments:
    return {**options(n), "call": zeros(n), "put": zeros(n)}


@vy.kernel
def binomial_american(
    up: vy.f32,
    keep: vy.f32,
    chance: vy.f32,
    price: vy.In[vy.f32],
    strike: vy.In[vy.f32],
    put: vy.Out[vy.f32],
):
    """A tree of 64 steps for each option; exercised early where that is worth more."""
    value = vy.local(vy.f32, STEPS + 1)
    i = vy.gid()
    if i < len(price):
        down = 1.0 / up
        lowest = price[i]
        for _ in range(STEPS):
            lowest *= down
        here = lowest
        for k in range(STEPS + 1):
            value[k] = max(strike[i] - here, 0.0)
            here *= up * up
        for step in range(STEPS - 1, -1, -1):
            lowest *= up
            here = lowest
            for k in range(step + 1):
                held = keep * (chance * value[k + 1] + (1.0 - chance) * value[k])
                value[k] = max(held, strike[i] - here)
                here *= up * up
        put[i] = value[0]


def binomial_american_data(n: int) -> Arguments:
    given = options(n)
    price, strike = given["price"], given["strike"]
    return {
        "up": 1.0382,
        "keep": 0.99969,
        "chance": 0.4948,
        "price": price,
        "strike": strike,
        "put": zeros(n),
    }


@vy.kernel
def asian_paths(days: vy.u32, seed: vy.In[vy.u32], strike: vy.f32, payoff: vy.Out[vy.f32]):
    """A path per invocation: xorshift, a normal from the sum of uniforms, the mean price."""
    i = vy.gid()
    if i < len(seed):
        state = seed[i]
        price, total = 100.0, 0.0
        for _ in range(days):
            noise = -3.0
            for _ in range(6):
                state ^= state << 13
                state ^= state >> 17
                state ^= state << 5
                noise += vy.f32(state >> 8) * (1.0 / 16777216.0)
            price *= 1.0 + 0.0001 + 0.02 * 1.4142135 * noise
            total += price
        payoff[i] = max(total / vy.f32(days) - strike, 0.0)


def asian_paths_data(n: int) -> Arguments:
    seed = integers(np.uint32, 1, 2**32 - 1, n)
    return {"days": 50, "seed": seed, "strike": 100.0, "payoff": zeros(n)}


@vy.kernel
def monte_carlo(
    seed: vy.In[vy.u32], draws: vy.u32, price: vy.f32, strike: vy.f32, mean: vy.Out[vy.f32]
):
    """Draws at the end of a year, by Box and Muller."""
    i = vy.gid()
    if i < len(seed):
        state = seed[i]
        total = 0.0
        for _ in range(draws):
            state = state * 1664525 + 1013904223
            u = (vy.f32(state >> 8) + 0.5) / 16777216.0
            state = state * 1664525 + 1013904223
            v = vy.f32(state >> 8) / 16777216.0
            normal = vy.math.sqrt(-2.0 * vy.math.log(u)) * vy.math.cos(6.2831853 * v)
            end = price * vy.math.exp(RATE - 0.5 * VOLATILITY * VOLATILITY + VOLATILITY * normal)
            total += max(end - strike, 0.0)
        mean[i] = total / vy.f32(draws)


def monte_carlo_data(n: int) -> Arguments:
    seed = integers(np.uint32, 1, 2**32 - 1, n)
    return {"seed": seed, "draws": 20, "price": 100.0, "strike": 95.0, "mean": zeros(n)}


@vy.kernel
def bond_yields(
    coupon: vy.In[vy.f32], periods: vy.In[vy.u32], price: vy.In[vy.f32], rate: vy.Out[vy.f32]
):
    """The yield to maturity by Newton's method."""
    i = vy.gid()
    if i < len(price):
        y = 0.05
        for _ in range(8):
            factor = 1.0 / (1.0 + y)
            power, value, slope = 1.0, 0.0, 0.0
            for t in range(1, periods[i] + 1):
                power *= factor
                value += coupon[i] * power
                slope -= vy.f32(t) * coupon[i] * power * factor
            value += 100.0 * power
            slope -= vy.f32(periods[i]) * 100.0 * power * factor
            y -= (value - price[i]) / slope
        rate[i] = y


def bond_yields_data(n: int) -> Arguments:
    return {
        "coupon": floats(n, seed=1, low=2.0, high=8.0),
        "periods": integers(np.uint32, 2, 40, n, seed=2),
        "price": floats(n, seed=3, low=85.0, high=115.0),
        "rate": zeros(n),
    }


@vy.kernel
def drawdown(prices: vy.In[vy.f32, 2], worst: vy.Out[vy.f32], length: vy.Out[vy.u32]):
    """The largest fall from a peak in each row, and the longest time below one."""
    i = vy.gid()
    if i < prices.shape[0]:
        peak, fall = prices[i, 0], 0.0
        since, longest = 0, 0
        for t in range(1, prices.shape[1]):
            p = prices[i, t]
            if p > peak:
                peak = p
                since = 0
            else:
                since += 1
                longest = max(longest, since)
                fall = max(fall, (peak - p) / peak)
        worst[i] = fall
        length[i] = longest


def walks(rows: int, days: int) -> np.ndarray:
    """Prices that wander, in rows."""
    steps = 1.0 + floats(rows, days, low=-0.03, high=0.031).astype(np.float64)
    return (100.0 * np.cumprod(steps, axis=1)).astype(np.float32)


def drawdown_data(n: int) -> Arguments:
    return {"prices": walks(n, 251), "worst": zeros(n), "length": zeros(n, dtype=np.uint32)}


@vy.kernel
def ema_crossings(
    fast: vy.f32,
    slow: vy.f32,
    prices: vy.In[vy.f32, 2],
    trades: vy.Out[vy.u32],
    gain: vy.Out[vy.f32],
):
    """Bought where the fast moving average rises above the slow one, sold where it falls below."""
    i = vy.gid()
    if i < prices.shape[0]:
        quick, late = prices[i, 0], prices[i, 0]
        holding, bought, profit = False, 0.0, 0.0
        count = 0
        for t in range(1, prices.shape[1]):
            p = prices[i, t]
            quick += fast * (p - quick)
            late += slow * (p - late)
            if quick > late and not holding:
                holding = True
                bought = p
                count += 1
            elif quick < late and holding:
                holding = False
                profit += p - bought
        trades[i] = count
        gain[i] = profit


def ema_crossings_data(n: int) -> Arguments:
    return {
        "fast": 0.2,
        "slow": 0.05,
        "prices": walks(n, 251),
        "trades": zeros(n, dtype=np.uint32),
        "gain": zeros(n),
    }


CASES = (
    Case(
        "black_scholes",
        "finance",
        [black_scholes],
        black_scholes_data,
        200_001,
        131,
        ["call", "put"],
        ["price"],
        tolerance=1e-5,
        libm=True,
    ),
    Case(
        "binomial_american",
        "finance",
        [binomial_american],
        binomial_american_data,
        3001,
        77,
        ["put"],
        ["price"],
    ),
    Case(
        "asian_paths", "finance", [asian_paths], asian_paths_data, 10_001, 77, ["payoff"], ["seed"]
    ),
    Case(
        "monte_carlo",
        "finance",
        [monte_carlo],
        monte_carlo_data,
        10_001,
        77,
        ["mean"],
        ["seed"],
        tolerance=1e-5,
        libm=True,
    ),
    Case(
        "bond_yields", "finance", [bond_yields], bond_yields_data, 20_001, 77, ["rate"], ["price"]
    ),
    Case(
        "drawdown", "finance", [drawdown], drawdown_data, 4001, 37, ["worst", "length"], ["prices"]
    ),
    Case(
        "ema_crossings",
        "finance",
        [ema_crossings],
        ema_crossings_data,
        4001,
        37,
        ["trades", "gain"],
        ["prices"],
    ),
)
