// How amounts and times are written. Money is counted in whole micro-USD, and no digit of it is ever lost in a fraction.

const MICRO_DIGITS = 6

/** 4999120 is $4.99912; at least cents are shown. */
export function usd(micro) {
  const digits = String(Math.abs(micro)).padStart(MICRO_DIGITS + 1, '0')
  const whole = digits.slice(0, -MICRO_DIGITS).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0{1,4}$/, '')
  return `${micro < 0 ? '−' : ''}$${whole}.${fraction}`
}

/** What somebody typed, as micro-USD: "5" is 5000000. null for what is no amount, or finer than a micro-USD. */
export function microOf(text) {
  const [, whole, fraction = ''] = /^\s*\$?\s*(\d{1,9})(?:[.,](\d{1,6}))?\s*$/.exec(text) ?? []
  return whole === undefined ? null : Number(whole + fraction.padEnd(MICRO_DIGITS, '0'))
}

export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** One thing, two things. */
export function several(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`
}

/** "Project's window" words of a key's limit. */
export function limitText(limit) {
  if (!limit) return 'none'
  const windows = { daily: 'a day', weekly: 'a week', monthly: 'a month', lifetime: 'in all' }
  return `${usd(limit.micro)} ${windows[limit.reset]}`
}

const states = {
  Active: 'Active',
  Expired: 'Expired',
  Revoked: 'Revoked',
  Rotated: 'Rotated',
  NeedsReissue: 'Needs reissue',
}

/** A key's state as people read it. */
export function stateText(state) {
  return states[state] ?? state
}

/** A command that works as it is, safe against whatever stands in the model's name. */
export function curlCommand(baseUrl, secret, model) {
  if (!model) return `curl ${quoted(`${baseUrl}/v1/models`)} \\\n  -H ${quoted(`Authorization: Bearer ${secret}`)}`
  return postCommand(`${baseUrl}/v1/chat/completions`, secret, [], {
    model,
    messages: [{ role: 'user', content: 'Say hello.' }],
  })
}

/** A command that calls a sandbox product anew each time, with the key to be put in. */
export function curlInvoke(baseUrl, sandbox, input) {
  const once = '-H "Idempotency-Key: try-it-$(date +%s)"'
  return postCommand(`${baseUrl}/v1/sandbox/${sandbox}/invoke`, '<API_KEY>', [once], { input })
}

function postCommand(url, secret, headers, body) {
  return [
    `curl ${quoted(url)}`,
    `-H ${quoted(`Authorization: Bearer ${secret}`)}`,
    `-H 'Content-Type: application/json'`,
    ...headers,
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}

function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
