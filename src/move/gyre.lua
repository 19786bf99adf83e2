#!lua name=gyre
-- SPDX-License-Identifier: Apache-2.0
-- The function library of a move, loaded on every server that takes part. A record is a hash
-- {epoch, st, run_id}; it changes only through gyre_rec. A missing or foreign record is an error
-- (GYREFENCED), never a default. docs/migration.md has the protocol and the races each rule closes.

-- This server's run_id: constant for the life of the process, as is this local.
local own = nil
local function run_id()
  if not own then
    own = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
  end
  return own
end

local function fenced(epoch, st)
  return redis.error_reply('GYREFENCED record has epoch ' .. tostring(epoch) .. ' state ' .. tostring(st))
end

local function record(rec)
  local r = redis.call('HMGET', rec, 'epoch', 'st', 'run_id')
  return r[1], r[2], r[3]
end

-- UNLINK in slices: Lua's unpack is limited to about 8000 values.
local function unlink(keys, first)
  local n = 0
  for i = first, #keys, 1000 do
    n = n + redis.call('UNLINK', unpack(keys, i, math.min(i + 999, #keys)))
  end
  return n
end

-- KEYS rec [marks]   ARGV epoch, from, to, run_id
-- from: the letters it may come from; '-' = there is none, or one of an older epoch (then the marks
-- are forgotten with it). The state being `to` already is fine, and takes the new run_id.
local function rec(k, a)
  local epoch, st = record(k[1])
  local fresh = not epoch or tonumber(epoch) < tonumber(a[1])
  if epoch == a[1] and st == a[3] then
    redis.call('HSET', k[1], 'run_id', a[4])
    return 'ALREADY'
  end
  if fresh then
    if not string.find(a[2], '-', 1, true) then return fenced(epoch, st) end
    redis.call('UNLINK', k[1])
    if k[2] then redis.call('UNLINK', k[2]) end
    -- Frozen from nothing: what was here is lost, so what is absent was not deleted (gyre_back).
    if a[3] == 'A' then redis.call('HSET', k[1], 'lost', 1) end
  elseif epoch ~= a[1] or not string.find(a[2], st, 1, true) then
    return fenced(epoch, st)
  end
  redis.call('HSET', k[1], 'epoch', a[1], 'st', a[3], 'run_id', a[4])
  return 'OK'
end

-- KEYS key
local function dump(k)
  return {redis.call('DUMP', k[1]), redis.call('PEXPIRETIME', k[1])}
end

-- Puts a travelling value in its place. The time is absolute, so a value that expired on the way
-- stays expired: RESTORE with a past time leaves no key.
local function put(key, pexpire, payload)
  if tonumber(pexpire) < 0 then pexpire = '0' end
  redis.call('RESTORE', key, pexpire, payload, 'REPLACE', 'ABSTTL')
end

-- KEYS rec, marks, key   ARGV epoch, pexpire, kind, payload
-- kind D: the value and its mark at once; counted in the record, keys with an expiry apart. kind N:
-- the key does not exist at the source; mark only, the destination's value is never touched.
local function install(k, a)
  local epoch, st, id = record(k[1])
  if epoch ~= a[1] then return fenced(epoch, st) end
  if st == 'C' then return 'DONE' end
  if st ~= 'M' then return fenced(epoch, st) end
  if id ~= run_id() then return redis.error_reply('GYREFENCED the server was restarted') end
  if redis.call('SISMEMBER', k[2], k[3]) == 1 then return 'ALREADY' end
  if a[3] == 'D' then
    put(k[3], a[2], a[4])
    redis.call('HINCRBY', k[1], tonumber(a[2]) > 0 and 'expiring' or 'lasting', 1)
    redis.call('HINCRBY', k[1], 'bytes', #a[4])
  elseif a[3] ~= 'N' then
    return redis.error_reply('ERR gyre_install: unknown kind')
  end
  redis.call('SADD', k[2], k[3])
  return 'OK'
end

-- KEYS rec, marks, key   ARGV all (1: everything here is the destination's)
local function back(k, a)
  local r = redis.call('HMGET', k[1], 'epoch', 'st', 'lost')
  if r[2] ~= 'A' then return fenced(r[1], r[2]) end
  local payload = redis.call('DUMP', k[3])
  local moved = redis.call('SISMEMBER', k[2], k[3])
  if moved == 0 and a[1] == '1' and (payload or not r[3]) then moved = 1 end
  return {moved, payload, redis.call('PEXPIRETIME', k[3])}
end

-- KEYS rec, back, key   ARGV epoch, moved, pexpire, payload
local function unmove(k, a)
  local epoch, st = record(k[1])
  if epoch ~= a[1] then return fenced(epoch, st) end
  if st == 'O' then return 'DONE' end
  if st ~= 'B' then return fenced(epoch, st) end
  if redis.call('SISMEMBER', k[2], k[3]) == 1 then return 'ALREADY' end
  if a[2] == '1' then
    if a[4] == '' then
      redis.call('DEL', k[3])
    else
      put(k[3], a[3], a[4])
    end
  end
  redis.call('SADD', k[2], k[3])
  return 'OK'
end

-- KEYS rec, key...   ARGV epoch: removes copies, only while the record says that they are copies.
local function remover(state)
  return function(k, a)
    local epoch, st = record(k[1])
    if epoch ~= a[1] or st ~= state then return fenced(epoch, st) end
    return unlink(k, 2)
  end
end

-- KEYS rec, marks, back   ARGV epoch, states: forgets the unit on this server.
local function drop(k, a)
  local epoch, st = record(k[1])
  if not epoch then return 'ALREADY' end
  if epoch ~= a[1] or not string.find(a[2], st, 1, true) then return fenced(epoch, st) end
  redis.call('UNLINK', k[1], k[2], k[3])
  return 'OK'
end

-- Housekeeping must work on a server that is full, hence allow-oom; an install need not, unless it is
-- for a command that would.
local full = {'allow-oom'}
redis.register_function{function_name = 'gyre_rec', callback = rec, flags = full}
redis.register_function{function_name = 'gyre_dump', callback = dump, flags = {'no-writes'}}
redis.register_function('gyre_install', install)
redis.register_function{function_name = 'gyre_install_full', callback = install, flags = full}
redis.register_function{function_name = 'gyre_back', callback = back, flags = {'no-writes'}}
redis.register_function{function_name = 'gyre_unmove', callback = unmove, flags = full}
redis.register_function{function_name = 'gyre_clean', callback = remover('M'), flags = full}
redis.register_function{function_name = 'gyre_purge', callback = remover('A'), flags = full}
redis.register_function{function_name = 'gyre_drop', callback = drop, flags = full}
