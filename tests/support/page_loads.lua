-- SPDX-FileCopyrightText: 2026 The Stripewise developers
-- SPDX-License-Identifier: BSD-3-Clause
--
-- For wrk: each request is the next line "COOKIE PATH" of a file; the end is one line of JSON.

local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(args)
  lines, statuses = {}, ""
  counts = {}
  for line in io.lines(args[1]) do
    local cookie, path = line:match("^(%S+) (%S+)$")
    table.insert(lines, {path = path, cookie = "stripewise=" .. cookie})
  end
  place = math.floor(number * #lines / 2)
end

function request()
  place = place % #lines + 1
  local one = lines[place]
  return wrk.format("GET", one.path, {["Host"] = wrk.headers["Host"], ["Cookie"] = one.cookie})
end

function response(status)
  counts[status] = (counts[status] or 0) + 1
  statuses = ""
  for code, count in pairs(counts) do
    statuses = statuses .. code .. "=" .. count .. " "
  end
end

function done(summary, latency, requests)
  local told = {}
  for _, thread in ipairs(threads) do
    for code, count in thread:get("statuses"):gmatch("(%d+)=(%d+)") do
      told[code] = (told[code] or 0) + count
    end
  end
  local parts = {}
  for code, count in pairs(told) do
    table.insert(parts, string.format('"%s": %d', code, count))
  end
  local errors = summary.errors
  io.write(string.format(
    'wrk {"requests": %d, "seconds": %.3f, "p50": %.4f, "p95": %.4f, "longest": %.4f, ' ..
    '"mean": %.4f, "unanswered": %d, "statuses": {%s}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6,
    latency:percentile(95) / 1e6, latency.max / 1e6, latency.mean / 1e6,
    errors.connect + errors.read + errors.write + errors.timeout, table.concat(parts, ", ")))
end
