-- Compare-and-swap of a session's revision (SPEC C7).
-- KEYS: 1 session record, 2 record of (state, session).
-- ARGV: 1 expected revision, 2 writer, 3 state, 4 time to live in ms, 5 present time.
-- Answers {revision, 1 if conflict else 0, winner}.

-- The writers of this many revisions are remembered, to know a repeated write again and to name the winner.
local REMEMBERED = 64

local expected = tonumber(ARGV[1])
local writer = ARGV[2]
local current = tonumber(redis.call('HGET', KEYS[1], 'revision'))

local function field(revision)
  return string.format('w:%.0f', revision)
end

if current and expected < current then
  local first = redis.call('HGET', KEYS[1], field(expected + 1))
  if first == writer then
    return {expected + 1, 0, ''}
  end
  -- Older than what is remembered: the last writer stands for all that came in between.
  if not first then
    first = redis.call('HGET', KEYS[1], field(current)) or ''
  end
  return {current, 1, first}
end

-- Here the revision is the expected one, or the store knows less than the conversation: nothing, or an older copy. What
-- it remembers of writers is then of another history.
if current and expected > current then
  redis.call('DEL', KEYS[1])
end
local revision = expected + 1
local text = string.format('%.0f', revision)
redis.call('HSET', KEYS[1], 'revision', text, 'state', ARGV[3], 'updated', ARGV[5], field(revision), writer)
if revision > REMEMBERED then
  redis.call('HDEL', KEYS[1], field(revision - REMEMBERED))
end
redis.call('HSET', KEYS[2], 'revision', text, 'writer', writer, 'updated', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return {revision, 0, ''}
