#include <stdbool.h>
#include <stdint.h>

void signed_integers(const uint8_t *restrict text, const uint32_t *restrict start,
                     int32_t *restrict value, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t k = start[i];
        bool negative = text[k] == '-';
        if (negative)
            k++;
        int32_t total = 0;
        while (k < start[i + 1] && text[k] >= '0' && text[k] <= '9') {
            total = 10 * total + (text[k] - '0');
            k++;
        }
        value[i] = negative ? -total : total;
    }
}

void decimals(const uint8_t *restrict text, const uint32_t *restrict start, float *restrict value,
              int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float whole = 0.0f, scale = 1.0f;
        bool point = false;
        for (uint32_t k = start[i]; k < start[i + 1]; k++) {
            uint8_t c = text[k];
            if (c == '.') {
                point = true;
            } else if (c >= '0' && c <= '9') {
                whole = 10.0f * whole + (float)(c - '0');
                if (point)
                    scale *= 10.0f;
            }
        }
        value[i] = whole / scale;
    }
}

void ipv4_addresses(const uint8_t *restrict text, const uint32_t *restrict start,
                    uint32_t *restrict address, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t result = 0, part = 0;
        for (uint32_t k = start[i]; k < start[i + 1]; k++) {
            if (text[k] == '.') {
                result = result << 8 | part;
                part = 0;
            } else {
                part = part * 10 + (uint32_t)(text[k] - '0');
            }
        }
        address[i] = result << 8 | part;
    }
}

static int32_t two_digits(uint8_t high, uint8_t low) { return (high - '0') * 10 + (low - '0'); }

void iso_dates(const uint8_t *restrict text, int32_t *restrict days, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *t = text + 10 * i;
        int32_t year = two_digits(t[0], t[1]) * 100 + two_digits(t[2], t[3]);
        int32_t month = two_digits(t[5], t[6]), day = two_digits(t[8], t[9]);
        if (month <= 2) {
            year -= 1;
            month += 12;
        }
        int32_t era = year / 400;
        int32_t of_era = year - era * 400;
        int32_t of_year = (153 * (month - 3) + 2) / 5 + day - 1;
        days[i] = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    }
}

void varints(const uint8_t *restrict data, const uint32_t *restrict start,
             uint64_t *restrict value, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t k = start[i];
        uint64_t shift = 0, total = 0;
        while (data[k] >= 128) {
            total |= (uint64_t)(data[k] & 127) << shift;
            shift += 7;
            k++;
        }
        total |= (uint64_t)data[k] << shift;
        value[i] = (total >> 1) ^ (0 - (total & 1));
    }
}

void csv_fields(const uint8_t *restrict text, const uint32_t *restrict start,
                uint32_t *restrict fields, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t count = 1;
        bool quoted = false;
        for (uint32_t k = start[i]; k < start[i + 1]; k++) {
            if (text[k] == '"')
                quoted = !quoted;
            else if (text[k] == ',' && !quoted)
                count++;
        }
        fields[i] = count;
    }
}

void json_depths(const uint8_t *restrict text, const uint32_t *restrict start,
                 int32_t *restrict deepest, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        int32_t depth = 0, most = 0;
        bool inside = false, escaped = false;
        for (uint32_t k = start[i]; k < start[i + 1]; k++) {
            uint8_t c = text[k];
            if (inside) {
                if (escaped)
                    escaped = false;
                else if (c == '\\')
                    escaped = true;
                else if (c == '"')
                    inside = false;
            } else if (c == '"') {
                inside = true;
            } else if (c == '[' || c == '{') {
                depth++;
                if (depth > most)
                    most = depth;
            } else if (c == ']' || c == '}') {
                depth--;
                if (depth < 0)
                    break;
            }
        }
        deepest[i] = depth == 0 ? most : -1;
    }
}
