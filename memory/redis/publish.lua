-- Appends an event to the stream of a session, once per sequence.
-- KEYS: 1 stream. ARGV: 1 sequence, 2 data, 3 greatest length, 4 time to live in ms.
-- Answers 0 if it is there now, else the sequence of the last event, after which this one comes too late.

local id = ARGV[1] .. '-1'
local sequence = tonumber(ARGV[1])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  local newest = tonumber(string.match(last[1], '^(%d+)'))
  if sequence <= newest then
    local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
    local oldest = tonumber(string.match(first[1], '^(%d+)'))
    -- Older than all that is kept: it was published and cut off since.
    if sequence < oldest or #redis.call('XRANGE', KEYS[1], id, id) > 0 then
      return 0
    end
    return newest
  end
end
redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[3], id, 'data', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 0
