// Written by Tests/TrellisPostgresTests/Functions/make_functions.py. Do not edit.

extension ServerFunctions {
  /// Arithmetic, conversions and sums.
  static let numberFunctions: [String] = [
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_add(a bigint, b bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF b >= 0 THEN
        IF a <= 9223372036854775807 - b THEN RETURN a + b; END IF;
      ELSIF a >= (-9223372036854775807 - 1) - b THEN RETURN a + b;
      END IF;
      RETURN NULL;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_subtract(a bigint, b bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF b >= 0 THEN
        IF a >= (-9223372036854775807 - 1) + b THEN RETURN a - b; END IF;
      ELSIF a <= 9223372036854775807 + b THEN RETURN a - b;
      END IF;
      RETURN NULL;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_multiply(a bigint, b bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF a BETWEEN -2147483648 AND 2147483647 AND b BETWEEN -2147483648 AND 2147483647 THEN RETURN a * b; END IF;
      IF a::numeric * b::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN RETURN a * b; END IF;
      RETURN NULL;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_divide(a bigint, b bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF b = 0 OR (b = -1 AND a = (-9223372036854775807 - 1)) THEN RETURN NULL; END IF;
      RETURN a / b;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_remainder(a bigint, b bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF b = 0 THEN RETURN NULL; END IF;
      IF b = -1 THEN RETURN 0; END IF;
      RETURN a % b;
    END $fn$
    """#,
    #"""
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
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_negate(a bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN a > (-9223372036854775807 - 1) THEN -a END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_abs(a bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN a > (-9223372036854775807 - 1) THEN pg_catalog.abs(a) END
    $fn$;

    -- Comparisons count NaN as larger than infinity: "abs(a) < x" is false for both. Factors of a scaling are powers of 2.
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_add(a double precision, b double precision) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF pg_catalog.abs(a) < 8e307::float8 AND pg_catalog.abs(b) < 8e307::float8 THEN RETURN a + b; END IF;
      IF NOT (pg_catalog.abs(a) < 'Infinity'::float8 AND pg_catalog.abs(b) < 'Infinity'::float8) THEN RETURN NULL; END IF;
      -- A small number adds nothing to a large one. Half of a small number might fail.
      IF pg_catalog.abs(a) < 1e200::float8 OR pg_catalog.abs(b) < 1e200::float8
        OR pg_catalog.abs(a * 0.5::float8 + b * 0.5::float8) < 8.98846567431158e+307::float8 THEN RETURN a + b; END IF;
      RETURN NULL;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_subtract(a double precision, b double precision) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF pg_catalog.abs(a) < 8e307::float8 AND pg_catalog.abs(b) < 8e307::float8 THEN RETURN a - b; END IF;
      RETURN @schema@.trellis_real_add(a, -b);
    END $fn$
    """#,
    #"""
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
        IF y < 6.703903964971299e+153::float8 OR (x * 2.409919865102884e-181::float8) * (y * 2.409919865102884e-181::float8) < 1.044048714879764e-53::float8 THEN RETURN a * b; END IF;
        RETURN NULL;
      END IF;
      IF y >= 1 OR x >= 2.2227587494850775e-162::float8 THEN RETURN a * b; END IF;
      -- The server fails if the product becomes 0. It does up to 2^-1075, half of the smallest real.
      x := x * 4.149515568880993e+180::float8;
      k := 1.0250665447337477e-143::float8;
      IF y < 3.054936363499605e-151::float8 THEN
        y := y * 3.273390607896142e+150::float8;
        k := 33554432.0::float8;
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
    END $fn$
    """#,
    #"""
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
        IF x < 1e-20::float8 OR (x < 3.273390607896142e+150::float8 AND y >= 3.054936363499605e-151::float8) THEN RETURN a / b; END IF;
        IF x >= 3.273390607896142e+150::float8 THEN
          IF (x * 2.409919865102884e-181::float8) / (y * 3.273390607896142e+150::float8) < 1.3234889800848443e-23::float8 THEN RETURN a / b; END IF;
        ELSIF (x * 3.054936363499605e-151::float8) / (y * 4.149515568880993e+180::float8) < 1.3234889800848443e-23::float8 THEN RETURN a / b;
        END IF;
        RETURN NULL;
      END IF;
      -- The server fails if the quotient becomes 0. It does up to 2^-1075, half of the smallest real.
      IF x >= 1e-10::float8 THEN RETURN a / b; END IF;
      IF x < 1e-100::float8 THEN
        IF (x * 1.0715086071862673e+301::float8) / (y * 4.909093465297727e-91::float8) > 5.391989333430128e+67::float8 THEN RETURN a / b; END IF;
      ELSIF y < 1e200::float8 OR (x * 2.5822498780869086e+120::float8) / (y * 3.8725919148493183e-121::float8) > 1.6472184286297693e-83::float8 THEN RETURN a / b;
      END IF;
      RETURN CASE WHEN (a < 0) = (b < 0) THEN 0::float8 ELSE '-0'::float8 END;
    END $fn$
    """#,
    #"""
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
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_add(a numeric, b numeric) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    DECLARE
      r pg_catalog.numeric := a + b;
    BEGIN
      IF pg_catalog.abs(r) < 1e20 AND pg_catalog.scale(r) <= 18 THEN RETURN pg_catalog.trim_scale(r); END IF;
      RETURN @schema@.trellis_decimal_round38(r);
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_subtract(a numeric, b numeric) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    DECLARE
      r pg_catalog.numeric := a - b;
    BEGIN
      IF pg_catalog.abs(r) < 1e20 AND pg_catalog.scale(r) <= 18 THEN RETURN pg_catalog.trim_scale(r); END IF;
      RETURN @schema@.trellis_decimal_round38(r);
    END $fn$
    """#,
    #"""
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
    END $fn$
    """#,
    #"""
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
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_remainder(a numeric, b numeric) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF b = 0 OR pg_catalog.abs(a) > 1e400 OR pg_catalog.abs(b) > 1e400 THEN RETURN NULL; END IF;
      RETURN @schema@.trellis_decimal_round38(pg_catalog.mod(a, b));
    END $fn$
    """#,
    #"""
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
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_floor(a numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.floor(a) END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_ceiling(a numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.ceil(a) END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_truncate(a numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.trunc(a) END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_round(a numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(a) <= 1e400 THEN pg_catalog.round(a) END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_of_decimal(n numeric) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    DECLARE
      size pg_catalog.numeric := pg_catalog.abs(n);
    BEGIN
      IF size < 1e308 THEN
        IF size > 1e-300 OR size = 0 THEN RETURN n::float8; END IF;
        -- Half of the smallest real, 2^-1075, becomes 0.
        IF size > 0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000024703282292062327208828439643411068618252990130716238221279284125033775363510437593264991818081799618989828234772285886546332835517796989819938739800539093906315035659515570226392290858392449105184435931802849936536152500319370457678249219365623669863658480757001585769269903706311928279558551332927834338409351978015531246597263579574622766465272827220056374006485499977096599470454020828166226237857393450736339007967761930577506740176324673600968951340535537458516661134223766678604162159680461914467291840300530057530849048765391711386591646239524912623653881879636239373280423891018672348497668235089863388587925628302755995657524455507255189313690836254779186948667994968324049705821028513185451396213837722826145437693412532098591327667236328125 THEN RETURN n::float8; END IF;
        RETURN CASE WHEN n < 0 THEN '-0'::float8 ELSE 0::float8 END;
      END IF;
      IF size < 179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792 THEN RETURN n::float8; END IF;
      RETURN NULL;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_text(x double precision) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 SET extra_float_digits = 1 AS $fn$
    BEGIN
      RETURN x::text;
    END $fn$
    """#,
    #"""
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
    END $fn$
    """#,
    #"""
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
        IF e & 1 <> 0 THEN m := m * 2; END IF;
        IF e & 2 <> 0 THEN m := m * 4; END IF;
        IF e & 4 <> 0 THEN m := m * 16; END IF;
        IF e & 8 <> 0 THEN m := m * 256; END IF;
        IF e & 16 <> 0 THEN m := m * 65536; END IF;
        IF e & 32 <> 0 THEN m := m * 4294967296; END IF;
        IF e & 64 <> 0 THEN m := m * 18446744073709551616; END IF;
        IF e & 128 <> 0 THEN m := m * 340282366920938463463374607431768211456; END IF;
        IF e & 256 <> 0 THEN m := m * 115792089237316195423570985008687907853269984665640564039457584007913129639936; END IF;
        IF e & 512 <> 0 THEN m := m * 13407807929942597099574024998205846127479365820592393377723561443721764030073546976801874298166903427690031858186486050853753882811946569946433649006084096; END IF;
        RETURN m;
      END IF;
      -- 2^e is 5^-e / 10^-e.
      e := -e;
      IF e & 1 <> 0 THEN m := m * 5; END IF;
      IF e & 2 <> 0 THEN m := m * 25; END IF;
      IF e & 4 <> 0 THEN m := m * 625; END IF;
      IF e & 8 <> 0 THEN m := m * 390625; END IF;
      IF e & 16 <> 0 THEN m := m * 152587890625; END IF;
      IF e & 32 <> 0 THEN m := m * 23283064365386962890625; END IF;
      IF e & 64 <> 0 THEN m := m * 542101086242752217003726400434970855712890625; END IF;
      IF e & 128 <> 0 THEN m := m * 293873587705571876992184134305561419454666389193021880377187926569604314863681793212890625; END IF;
      IF e & 256 <> 0 THEN m := m * 86361685550944446253863518628003995711160003644362813850237034701685918031624270579715075034722882265605472939461496635969950989468319466936530037770580747746862471103668212890625; END IF;
      IF e & 512 <> 0 THEN m := m * 7458340731200206743290965315462933837376471534600406894271518333206278385070118304936174890400427803361511603255836101453412728095225302660486164829592084691481260792318781377495204074266435262941446554365063914765414217260588507120031686823003222742297563699265350215337206058336516628646003612927433551846968657326499008153319891789578832685947418212890625; END IF;
      IF e & 1024 <> 0 THEN m := m * 55626846462680034577255817933310101605480399511558295763833185422180110870347954896357078975312775514101683493275895275128810854038836502721400309634442970528269449838300058261990253686064590901798039126173562593355209381270166265416453973718012279499214790991212515897719252957621869994522193843748736289511290126272884996414561770466127838448395124802899527144151299810833802858809753719892490239782222290074816037776586657834841586939662825734294051183140794537141608771803070715941051121170285190347786926570042246331102750604036185540464179153763503857127117918822547579033069472418242684328083352174724579376695971173152319349449321466491373527284227385153411689217559966957882267024615430273115634918212890625; END IF;
      RETURN m * ('1e-' || e::text)::numeric;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_sum_exact_step(state numeric, x double precision) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 AS $fn$
    BEGIN
      IF pg_catalog.abs(x) < 'Infinity'::float8 THEN RETURN state + @schema@.trellis_exact_real(x); END IF;
      RETURN state;
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE AGGREGATE @schema@.trellis_sum_exact(double precision) (
      SFUNC = @schema@.trellis_sum_exact_step, STYPE = numeric, INITCOND = '0', COMBINEFUNC = pg_catalog.numeric_add,
      PARALLEL = SAFE)
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_is_plain(x double precision) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT pg_catalog.abs(x) BETWEEN 3.725290298461914e-09::float8 AND 8796093022208.0::float8
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_high(x double precision) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(x) BETWEEN 3.725290298461914e-09::float8 AND 8796093022208.0::float8 THEN pg_catalog.trunc(x * 262144.0::float8)::bigint END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_low(x double precision) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(x) BETWEEN 3.725290298461914e-09::float8 AND 8796093022208.0::float8 THEN ((x * 262144.0::float8 - pg_catalog.trunc(x * 262144.0::float8)) * 4.611686018427388e+18::float8)::bigint END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_total(
      high numeric, low numeric, others numeric, infinite double precision
    ) RETURNS double precision LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100 AS $fn$
    DECLARE
      total pg_catalog.numeric;
    BEGIN
      IF infinite IS NOT NULL THEN RETURN infinite; END IF;
      total := COALESCE(high, 0) * 0.000003814697265625
        + COALESCE(low, 0) * 0.00000000000000000000000082718061255302767487140869206996285356581211090087890625 + COALESCE(others, 0);
      IF total = 0 THEN RETURN 0; END IF;
      RETURN COALESCE(@schema@.trellis_real_of_decimal(total),
        CASE WHEN total < 0 THEN '-Infinity'::float8 ELSE 'Infinity'::float8 END);
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_finite(x double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN pg_catalog.abs(x) < 'Infinity'::float8 THEN x END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_average(total double precision, count bigint) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      RETURN @schema@.trellis_real_divide(total, count::float8);
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_real_mean(total double precision, count bigint) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $fn$
    BEGIN
      IF count = 0 THEN RETURN NULL; END IF;
      IF pg_catalog.abs(total) = 'Infinity'::float8 THEN RETURN total; END IF;
      RETURN @schema@.trellis_real_divide(total, count::float8);
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_sum(total numeric) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN total IS NULL THEN 0
        WHEN total BETWEEN -9223372036854775808 AND 9223372036854775807 THEN total::bigint END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_integer_average(total numeric, count bigint) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
      SELECT CASE WHEN count > 0 THEN COALESCE(total, 0)::float8 / count::float8 END
    $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_sum(total numeric) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 20 AS $fn$
    BEGIN
      RETURN @schema@.trellis_decimal_round38(COALESCE(total, 0));
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_total(total numeric) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 20 AS $fn$
    BEGIN
      RETURN COALESCE(@schema@.trellis_decimal_round38(COALESCE(total, 0)),
        CASE WHEN pg_catalog.abs(total) < 1e10000 THEN pg_catalog.trim_scale(total) END);
    END $fn$
    """#,
    #"""
    CREATE OR REPLACE FUNCTION @schema@.trellis_decimal_average(total numeric, count bigint) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 50 AS $fn$
    BEGIN
      IF count > 0 THEN RETURN @schema@.trellis_decimal_divide(COALESCE(total, 0), count::numeric); END IF;
      RETURN NULL;
    END $fn$
    """#,
  ]
}
