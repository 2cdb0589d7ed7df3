-- One request again and again. Arguments: the body, then names and values of headers in turn.
function init(args)
  wrk.method = "POST"
  wrk.body = args[1]
  for n = 2, #args, 2 do
    wrk.headers[args[n]] = args[n + 1]
  end
end

-- The last line is for the program that runs this. Times are microseconds.
function done(summary, latency)
  local failed = summary.errors
  io.write(string.format(
    '\n{"calls":%d,"tookUs":%d,"p50Us":%d,"p99Us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failed.status,
    failed.connect + failed.read + failed.write + failed.timeout
  ))
end
