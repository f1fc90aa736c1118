
-- MARK: Integers (null: the result has more than 64 bits, or a division by zero)

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_add(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF b >= 0 THEN
    IF a <= 9223372036854775807 - b THEN RETURN a + b; END IF;
  ELSIF a >= (-9223372036854775807 - 1) - b THEN RETURN a + b;
  END IF;
  RETURN NULL;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_subtract(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF b >= 0 THEN
    IF a >= (-9223372036854775807 - 1) + b THEN RETURN a - b; END IF;
  ELSIF a <= 9223372036854775807 + b THEN RETURN a - b;
  END IF;
  RETURN NULL;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_multiply(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF a BETWEEN -2147483648 AND 2147483647 AND b BETWEEN -2147483648 AND 2147483647 THEN RETURN a * b; END IF;
  IF a::numeric * b::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN RETURN a * b; END IF;
  RETURN NULL;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_divide(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF b = 0 OR (b = -1 AND a = (-9223372036854775807 - 1)) THEN RETURN NULL; END IF;
  RETURN a / b;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_remainder(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF b = 0 THEN RETURN NULL; END IF;
  IF b = -1 THEN RETURN 0; END IF;
  RETURN a % b;
END $fn$;

-- As StoredValue's power of two integers.
CREATE OR REPLACE FUNCTION @schema@.trellis_integer_power(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 AS $fn$
DECLARE
  r pg_catalog.numeric := 1;
BEGIN
  IF b < 0 THEN RETURN NULL; END IF;
  IF a = 0 OR a = 1 THEN RETURN CASE WHEN b = 0 THEN 1 ELSE a END; END IF;
  IF a = -1 THEN RETURN CASE WHEN b % 2 = 0 THEN 1 ELSE -1 END; END IF;
  IF b >= 64 THEN RETURN NULL; END IF;
  FOR i IN 1..b::int LOOP
    r := r * a;
    IF r NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN RETURN NULL; END IF;
  END LOOP;
  RETURN r::bigint;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_negate(a bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN a > (-9223372036854775807 - 1) THEN -a END
$fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_integer_abs(a bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN a > (-9223372036854775807 - 1) THEN pg_catalog.abs(a) END
$fn$;

-- MARK: Reals (null: the result is infinite or no number, or an operand is NaN)
-- Comparisons count NaN as larger than infinity: "abs(a) < x" is false for both. Factors of a scaling are powers of 2.

CREATE OR REPLACE FUNCTION @schema@.trellis_real_add(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF pg_catalog.abs(a) < 8e307::float8 AND pg_catalog.abs(b) < 8e307::float8 THEN RETURN a + b; END IF;
  IF NOT (pg_catalog.abs(a) < 'Infinity'::float8 AND pg_catalog.abs(b) < 'Infinity'::float8) THEN RETURN NULL; END IF;
  -- A small number adds nothing to a large one. Half of a small number might fail.
  IF pg_catalog.abs(a) < 1e200::float8 OR pg_catalog.abs(b) < 1e200::float8
    OR pg_catalog.abs(a * 0.5::float8 + b * 0.5::float8) < @F1023@ THEN RETURN a + b; END IF;
  RETURN NULL;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_real_subtract(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF pg_catalog.abs(a) < 8e307::float8 AND pg_catalog.abs(b) < 8e307::float8 THEN RETURN a - b; END IF;
  RETURN @schema@.trellis_real_add(a, -b);
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_real_multiply(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
DECLARE
  x double precision := pg_catalog.abs(a);
  y double precision := pg_catalog.abs(b);
  p double precision;
  h double precision;
  k double precision;
BEGIN
  IF x BETWEEN 1e-150::float8 AND 1e150::float8 AND y BETWEEN 1e-150::float8 AND 1e150::float8 THEN RETURN a * b; END IF;
  IF x >= 'Infinity'::float8 OR y >= 'Infinity'::float8 THEN RETURN NULL; END IF;
  IF x = 0 OR y = 0 THEN RETURN a * b; END IF;
  IF x > y THEN
    p := x;
    x := y;
    y := p;
  END IF;
  IF x >= 1 THEN
    IF y < @F511@ OR (x * @F-600@) * (y * @F-600@) < @F-176@ THEN RETURN a * b; END IF;
    RETURN NULL;
  END IF;
  IF y >= 1 OR x >= @F-537@ THEN RETURN a * b; END IF;
  -- The server fails if the product becomes 0. It does up to 2^-1075, half of the smallest real.
  x := x * @F600@;
  k := @F-475@;
  IF y < @F-500@ THEN
    y := y * @F500@;
    k := @F25@;
  END IF;
  p := x * y;
  IF p > k THEN RETURN a * b; END IF;
  IF p = k THEN
    -- The rounding error of the product.
    k := 134217729::float8 * x;
    h := k - (k - x);
    k := 134217729::float8 * y;
    k := k - (k - y);
    IF ((h * k - p) + h * (y - k) + (x - h) * k) + (x - h) * (y - k) > 0 THEN RETURN a * b; END IF;
  END IF;
  RETURN CASE WHEN (a < 0) = (b < 0) THEN 0::float8 ELSE '-0'::float8 END;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_real_divide(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
DECLARE
  x double precision := pg_catalog.abs(a);
  y double precision := pg_catalog.abs(b);
BEGIN
  IF x BETWEEN 1e-150::float8 AND 1e150::float8 AND y BETWEEN 1e-150::float8 AND 1e150::float8 THEN RETURN a / b; END IF;
  IF y = 0 OR x >= 'Infinity'::float8 OR y > 'Infinity'::float8 THEN RETURN NULL; END IF;
  IF y = 'Infinity'::float8 THEN RETURN a * CASE WHEN b < 0 THEN '-0'::float8 ELSE 0::float8 END; END IF;
  IF x = 0 THEN RETURN a / b; END IF;
  IF y < 1 THEN
    -- The quotient may be too large.
    IF x < 1e-20::float8 OR (x < @F500@ AND y >= @F-500@) THEN RETURN a / b; END IF;
    IF x >= @F500@ THEN
      IF (x * @F-600@) / (y * @F500@) < @F-76@ THEN RETURN a / b; END IF;
    ELSIF (x * @F-500@) / (y * @F600@) < @F-76@ THEN RETURN a / b;
    END IF;
    RETURN NULL;
  END IF;
  -- The server fails if the quotient becomes 0. It does up to 2^-1075, half of the smallest real.
  IF x >= 1e-10::float8 THEN RETURN a / b; END IF;
  IF x < 1e-100::float8 THEN
    IF (x * @F1000@) / (y * @F-300@) > @F225@ THEN RETURN a / b; END IF;
  ELSIF y < 1e200::float8 OR (x * @F400@) / (y * @F-400@) > @F-275@ THEN RETURN a / b;
  END IF;
  RETURN CASE WHEN (a < 0) = (b < 0) THEN 0::float8 ELSE '-0'::float8 END;
END $fn$;

-- MARK: Decimals (null: the result has more than 165 digits before the point, or a division by zero)

-- A number rounded to 38 digits, half to even. Null if it is infinite or NaN.
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_round38(x numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $fn$
DECLARE
  size pg_catalog.numeric;
  digits pg_catalog.text COLLATE pg_catalog."C";
  places int;
  unit pg_catalog.numeric;
  r pg_catalog.numeric;
BEGIN
  size := pg_catalog.abs(x);
  IF size < 1e20 AND pg_catalog.scale(x) <= 18 THEN RETURN pg_catalog.trim_scale(x); END IF;
  -- NaN and infinity are larger than all numbers.
  IF size >= 1e166 THEN RETURN NULL; END IF;
  IF size < 1e-170 THEN RETURN 0; END IF;
  digits := size::text;
  IF size >= 1 THEN
    places := 38 - pg_catalog.length(pg_catalog.split_part(digits, '.', 1));
  ELSE
    digits := pg_catalog.substr(digits, 3);
    places := 38 + pg_catalog.length(digits) - pg_catalog.length(pg_catalog.ltrim(digits, '0'));
  END IF;
  r := size;
  IF places < 0 OR pg_catalog.scale(x) > places THEN
    r := pg_catalog.round(size, places);
    IF r <> size THEN
      unit := ('1e' || (-places)::text)::numeric;
      -- The server rounds a half up.
      IF (r - size) * 2 = unit AND pg_catalog.mod(r, unit * 2) <> 0 THEN r := r - unit; END IF;
    END IF;
  END IF;
  IF r >= 1e165 THEN RETURN NULL; END IF;
  IF r < 1e-166 THEN RETURN 0; END IF;
  RETURN pg_catalog.trim_scale(CASE WHEN x < 0 THEN -r ELSE r END);
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_add(a numeric, b numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
DECLARE
  r pg_catalog.numeric := a + b;
BEGIN
  IF pg_catalog.abs(r) < 1e20 AND pg_catalog.scale(r) <= 18 THEN RETURN pg_catalog.trim_scale(r); END IF;
  RETURN @schema@.trellis_decimal_round38(r);
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_subtract(a numeric, b numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
DECLARE
  r pg_catalog.numeric := a - b;
BEGIN
  IF pg_catalog.abs(r) < 1e20 AND pg_catalog.scale(r) <= 18 THEN RETURN pg_catalog.trim_scale(r); END IF;
  RETURN @schema@.trellis_decimal_round38(r);
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_multiply(a numeric, b numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
DECLARE
  r pg_catalog.numeric;
BEGIN
  IF pg_catalog.abs(a) < 1e400 AND pg_catalog.abs(b) < 1e400 THEN
    r := a * b;
    IF pg_catalog.abs(r) < 1e20 AND pg_catalog.scale(r) <= 18 THEN RETURN pg_catalog.trim_scale(r); END IF;
    RETURN @schema@.trellis_decimal_round38(r);
  END IF;
  -- An infinite real has become 1e400.
  IF pg_catalog.abs(a) <= 1e400 AND pg_catalog.abs(b) <= 1e400 THEN RETURN @schema@.trellis_decimal_round38(a * b); END IF;
  RETURN NULL;
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_divide(a numeric, b numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 40 AS $fn$
DECLARE
  x pg_catalog.numeric := pg_catalog.abs(a);
  y pg_catalog.numeric := pg_catalog.abs(b);
  shift int := 0;
  q pg_catalog.numeric;
  digits pg_catalog.text COLLATE pg_catalog."C";
BEGIN
  IF y = 0 OR x > 1e400 OR y > 1e400 THEN RETURN NULL; END IF;
  IF x = 0 THEN RETURN 0; END IF;
  IF x < 1e30 AND pg_catalog.scale(x) <= 60 THEN
    -- The quotient rounded to at least 60 places rounds further as the quotient itself, unless it looks like a half.
    q := pg_catalog.round(x, 60) / y;
    IF q BETWEEN 1e-15 AND 1e40 AND (pg_catalog.scale(pg_catalog.trim_scale(q)) > 55 OR q * y = x) THEN
      RETURN @schema@.trellis_decimal_round38(CASE WHEN (a < 0) = (b < 0) THEN q ELSE -q END);
    END IF;
  END IF;
  -- Enough places that the whole quotient has more than 40 digits.
  digits := pg_catalog.div(x, y)::text;
  IF digits = '0' THEN
    shift := pg_catalog.length(pg_catalog.div(y, x)::text) + 41;
  ELSE
    shift := GREATEST(0, 41 - pg_catalog.length(digits));
  END IF;
  x := x * ('1e' || shift::text)::numeric;
  q := pg_catalog.div(x, y);
  -- A remainder counts as one more digit.
  IF q * y <> x THEN q := q + 0.1; END IF;
  q := q * ('1e-' || shift::text)::numeric;
  RETURN @schema@.trellis_decimal_round38(CASE WHEN (a < 0) = (b < 0) THEN q ELSE -q END);
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_remainder(a numeric, b numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF b = 0 OR pg_catalog.abs(a) > 1e400 OR pg_catalog.abs(b) > 1e400 THEN RETURN NULL; END IF;
  RETURN @schema@.trellis_decimal_round38(pg_catalog.mod(a, b));
END $fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_power(a numeric, b numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $fn$
DECLARE
  r pg_catalog.numeric := 1;
BEGIN
  IF b < 0 OR b > 1000 OR b <> pg_catalog.trunc(b) OR pg_catalog.abs(a) > 1e400 THEN RETURN NULL; END IF;
  FOR i IN 1..b::int LOOP
    r := r * a;
    IF NOT (pg_catalog.abs(r) < 1e20 AND pg_catalog.scale(r) <= 18) THEN
      r := @schema@.trellis_decimal_round38(r);
      IF r IS NULL OR r = 0 THEN RETURN r; END IF;
    END IF;
  END LOOP;
  RETURN pg_catalog.trim_scale(r);
END $fn$;

-- Null if it is infinite or NaN.
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_floor(a numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.floor(a) END
$fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_ceiling(a numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.ceil(a) END
$fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_truncate(a numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.trunc(a) END
$fn$;

-- Half away from zero.
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_round(a numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.round(a) END
$fn$;

-- MARK: Conversions

-- The nearest real; null if there is none.
CREATE OR REPLACE FUNCTION @schema@.trellis_real_of_decimal(n numeric) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
DECLARE
  size pg_catalog.numeric := pg_catalog.abs(n);
BEGIN
  IF size < 1e308 THEN
    IF size > 1e-300 OR size = 0 THEN RETURN n::float8; END IF;
    -- Half of the smallest real, 2^-1075, becomes 0.
    IF size > @N-1075@ THEN RETURN n::float8; END IF;
    RETURN CASE WHEN n < 0 THEN '-0'::float8 ELSE 0::float8 END;
  END IF;
  IF size < @TOO_LARGE@ THEN RETURN n::float8; END IF;
  RETURN NULL;
END $fn$;

-- For sessions that show fewer digits of reals.
CREATE OR REPLACE FUNCTION @schema@.trellis_real_text(x double precision) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 SET extra_float_digits = 1 AS $fn$
BEGIN
  RETURN x::text;
END $fn$;

-- The shortest decimal that converts back to the real; an infinity is 1e400. Null if it is NaN.
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_of_real(x double precision) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $fn$
DECLARE
  r pg_catalog.numeric;
  c pg_catalog.numeric;
  size int;
BEGIN
  IF NOT pg_catalog.abs(x) < 'Infinity'::float8 THEN
    RETURN CASE WHEN x = 'Infinity'::float8 THEN 1e400 WHEN x = '-Infinity'::float8 THEN -1e400 END;
  END IF;
  IF pg_catalog.current_setting('extra_float_digits')::int > 0 THEN
    r := x::text::numeric;
  ELSE
    r := @schema@.trellis_real_text(x)::numeric;
  END IF;
  IF pg_catalog.abs(x) NOT BETWEEN 9007199254740992::float8 AND 1e41::float8 THEN RETURN r; END IF;
  -- The server's text is not the shortest if that is halfway to the next real. That may happen here only.
  size := pg_catalog.length(pg_catalog.abs(r)::text);
  c := pg_catalog.round(r, 15 - size);
  IF c::float8 = x THEN RETURN c; END IF;
  c := pg_catalog.round(r, 16 - size);
  IF c = r OR c::float8 = x THEN RETURN c; END IF;
  c := CASE WHEN c < r THEN c + ('1e' || (size - 16)::text)::numeric ELSE c - ('1e' || (size - 16)::text)::numeric END;
  IF c::float8 = x THEN RETURN c; END IF;
  RETURN r;
END $fn$;

-- MARK: Sums

-- The exact value of a finite real.
CREATE OR REPLACE FUNCTION @schema@.trellis_exact_real(x double precision) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100 AS $fn$
DECLARE
  bits bigint;
  e int;
  m pg_catalog.numeric;
BEGIN
  bits := ('x' || pg_catalog.encode(pg_catalog.float8send(x), 'hex'))::bit(64)::bigint;
  e := ((bits >> 52) & 2047)::int;
  m := (bits & 4503599627370495) + CASE WHEN e = 0 THEN 0 ELSE 4503599627370496 END;
  IF x < 0 THEN m := -m; END IF;
  e := CASE WHEN e = 0 THEN 1 ELSE e END - 1075;
  IF e >= 0 THEN
    IF e & 1 <> 0 THEN m := m * @N1@; END IF;
    IF e & 2 <> 0 THEN m := m * @N2@; END IF;
    IF e & 4 <> 0 THEN m := m * @N4@; END IF;
    IF e & 8 <> 0 THEN m := m * @N8@; END IF;
    IF e & 16 <> 0 THEN m := m * @N16@; END IF;
    IF e & 32 <> 0 THEN m := m * @N32@; END IF;
    IF e & 64 <> 0 THEN m := m * @N64@; END IF;
    IF e & 128 <> 0 THEN m := m * @N128@; END IF;
    IF e & 256 <> 0 THEN m := m * @N256@; END IF;
    IF e & 512 <> 0 THEN m := m * @N512@; END IF;
    RETURN m;
  END IF;
  -- 2^e is 5^-e / 10^-e.
  e := -e;
  IF e & 1 <> 0 THEN m := m * @V1@; END IF;
  IF e & 2 <> 0 THEN m := m * @V2@; END IF;
  IF e & 4 <> 0 THEN m := m * @V4@; END IF;
  IF e & 8 <> 0 THEN m := m * @V8@; END IF;
  IF e & 16 <> 0 THEN m := m * @V16@; END IF;
  IF e & 32 <> 0 THEN m := m * @V32@; END IF;
  IF e & 64 <> 0 THEN m := m * @V64@; END IF;
  IF e & 128 <> 0 THEN m := m * @V128@; END IF;
  IF e & 256 <> 0 THEN m := m * @V256@; END IF;
  IF e & 512 <> 0 THEN m := m * @V512@; END IF;
  IF e & 1024 <> 0 THEN m := m * @V1024@; END IF;
  RETURN m * ('1e-' || e::text)::numeric;
END $fn$;

-- The sum of finite reals, exact. Slow: for the reals that are not plain.
CREATE OR REPLACE FUNCTION @schema@.trellis_sum_exact_step(state numeric, x double precision) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 AS $fn$
BEGIN
  IF pg_catalog.abs(x) < 'Infinity'::float8 THEN RETURN state + @schema@.trellis_exact_real(x); END IF;
  RETURN state;
END $fn$;

CREATE OR REPLACE AGGREGATE @schema@.trellis_sum_exact(double precision) (
  SFUNC = @schema@.trellis_sum_exact_step, STYPE = numeric, INITCOND = '0', COMBINEFUNC = pg_catalog.numeric_add,
  PARALLEL = SAFE);

-- Whether a real is plain: its bits are among those worth 2^-80 to 2^43.
CREATE OR REPLACE FUNCTION @schema@.trellis_is_plain(x double precision) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT pg_catalog.abs(x) BETWEEN @F-28@ AND @F43@
$fn$;

-- The two parts of a plain real: those of at least 2^-18, and the rest in units of 2^-80. Null for others, also where the
-- planner computes them for a constant.
CREATE OR REPLACE FUNCTION @schema@.trellis_high(x double precision) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(x) BETWEEN @F-28@ AND @F43@ THEN pg_catalog.trunc(x * @F18@)::bigint END
$fn$;

CREATE OR REPLACE FUNCTION @schema@.trellis_low(x double precision) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(x) BETWEEN @F-28@ AND @F43@ THEN ((x * @F18@ - pg_catalog.trunc(x * @F18@)) * @F62@)::bigint END
$fn$;

-- The value of RealSum, which may be infinite or NaN, from the sums of its parts. Any of them may be null. To be used as
--   trellis_real_total(sum(trellis_high(x)), sum(trellis_low(x)),
--     trellis_sum_exact(x) FILTER (WHERE NOT trellis_is_plain(x) AND x <> 0),
--     sum(x) FILTER (WHERE x IN ('Infinity', '-Infinity')))
CREATE OR REPLACE FUNCTION @schema@.trellis_real_total(
  high numeric, low numeric, others numeric, infinite double precision
) RETURNS double precision LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 AS $fn$
DECLARE
  total pg_catalog.numeric;
BEGIN
  IF infinite IS NOT NULL THEN RETURN infinite; END IF;
  total := COALESCE(high, 0) * @N-18@
    + COALESCE(low, 0) * @N-80@ + COALESCE(others, 0);
  IF total = 0 THEN RETURN 0; END IF;
  RETURN COALESCE(@schema@.trellis_real_of_decimal(total),
    CASE WHEN total < 0 THEN '-Infinity'::float8 ELSE 'Infinity'::float8 END);
END $fn$;

-- A finite real, or null.
CREATE OR REPLACE FUNCTION @schema@.trellis_finite(x double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.abs(x) < 'Infinity'::float8 THEN x END
$fn$;

-- NumberSum.average(.real): null if there are none or if it is infinite.
CREATE OR REPLACE FUNCTION @schema@.trellis_real_average(total double precision, count bigint) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  RETURN @schema@.trellis_real_divide(total, count::float8);
END $fn$;

-- NumberSum.mean(.real): the same, but it may be infinite.
CREATE OR REPLACE FUNCTION @schema@.trellis_real_mean(total double precision, count bigint) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
BEGIN
  IF count = 0 THEN RETURN NULL; END IF;
  IF pg_catalog.abs(total) = 'Infinity'::float8 THEN RETURN total; END IF;
  RETURN @schema@.trellis_real_divide(total, count::float8);
END $fn$;

-- NumberSum.sum(.integer) from sum(bigint), which is null if there are no values.
CREATE OR REPLACE FUNCTION @schema@.trellis_integer_sum(total numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN total IS NULL THEN 0
    WHEN total BETWEEN -9223372036854775808 AND 9223372036854775807 THEN total::bigint END
$fn$;

-- NumberSum.average(.integer) from sum(bigint) and count().
CREATE OR REPLACE FUNCTION @schema@.trellis_integer_average(total numeric, count bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN count > 0 THEN COALESCE(total, 0)::float8 / count::float8 END
$fn$;

-- NumberSum.sum(.decimal) from sum(numeric); null if it is too large.
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_sum(total numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 20 AS $fn$
BEGIN
  RETURN @schema@.trellis_decimal_round38(COALESCE(total, 0));
END $fn$;

-- NumberSum.total(.decimal).
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_total(total numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 20 AS $fn$
BEGIN
  RETURN COALESCE(@schema@.trellis_decimal_round38(COALESCE(total, 0)),
    CASE WHEN pg_catalog.abs(total) < 1e10000 THEN pg_catalog.trim_scale(total) END);
END $fn$;

-- NumberSum.average(.decimal) from sum(numeric) and count().
CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_average(total numeric, count bigint) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 50 AS $fn$
BEGIN
  IF count > 0 THEN RETURN @schema@.trellis_decimal_divide(COALESCE(total, 0), count::numeric); END IF;
  RETURN NULL;
END $fn$;
