// Removes credentials from texts that other people read: log lines, traces, error responses, audit entries, messages of a start
// that fails.
//   R1  By name: a text under a key, header, variable or parameter that names a credential, at any depth of JSON in a
//       text.
//   R2  By form: our own secrets (svc_…, svu_…, svt_…, svs_…), keys of well-known providers, signed tokens, private keys,
//       bearer tokens.
//   R3  Passwords in addresses, also those with a slash or an @ in them.
//   R4  Linear in the length of the text: every repetition is bounded or consumes what it has seen. A text of a log is cut
//       to MAX_CHARACTERS after that, so that no cut leaves a part of a secret that is not recognized.
// Too much is redacted rather than too little: none of these texts is read by a program.

const REDACTED = '[redacted]'
/** Of one string in a log line. */
const MAX_CHARACTERS = 4_096
/** What is looked at of it; the end of that may be a part of a secret, and is never shown. */
const MAX_SEEN = 16 * MAX_CHARACTERS

const names =
  'authorization|cookie|secret|passwo?r?d|pwd|token|api[_-]?key|(?:access|account|private|signing|encryption|webhook)[_-]?key|credential|signature|sig(?==)'
const forms = String.raw`sv[cuts]_|sk-|[rp]k_live_|whsec_|AIza|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[abp]-|hf_|gsk_|xai-|eyJ|-----BEGIN|bearer`

const byName = new RegExp(names, 'i')
const suspicious = new RegExp(`${names}|${forms}|://`, 'i')

/** A boundary also after an escaped line break, in JSON inside a text. */
const start = String.raw`(?<=^|[^0-9A-Za-z]|\\[nrt])`
const ownSecret = /(sv[cuts]_[0-9A-Za-z]{8})[0-9A-Za-z]{4,}/g
const providerKey = new RegExp(
  String.raw`${start}(sk-|[rp]k_live_|whsec_|AIza|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[abp]-|hf_|gsk_|xai-)[\w+/=.-]{10,}`,
  'g',
)
const signedToken = /(?<=^|[^\w-]|\\[nrt])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g
const bearer = new RegExp(String.raw`${start}(bearer)\s{1,8}[\w.~+/=-]{8,}`, 'gi')
const privateKey = /-----BEGIN ([A-Z ]{0,32})PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,48}-----|$)/g

/** Redacts by form and in addresses (R2, R3): for texts whose words may name credentials, such as a refusal. */
export function redactForms(text: string): string {
  if (!suspicious.test(text)) return text
  return redactAddresses(
    text
      .replace(privateKey, '-----BEGIN $1PRIVATE KEY----- [redacted]')
      .replace(ownSecret, '$1…')
      .replace(providerKey, '$1…')
      .replace(signedToken, REDACTED)
      .replace(bearer, `$1 ${REDACTED}`),
  )
}

/** Redacts everything in a text that could be a credential. */
export function redactText(text: string): string {
  return suspicious.test(text) ? redactNamed(redactForms(text)) : text
}

/** Redacts a log line, which is a JSON object, and cuts its strings. It stays valid JSON. */
export function redactLine(json: string): string {
  return json.length <= MAX_CHARACTERS && !suspicious.test(json) ? json : redactStrings(json, textOfLog, byName)
}

/** The JSON text of a value without what could be a credential in it. */
export function redactedJson(value: unknown): string {
  return redactStrings(JSON.stringify(value), redactText, byName)
}

/** Redacts the JSON text of an error response or an audit entry, whose keys are ours. It stays valid JSON. */
export function redactAnswer(json: string): string {
  return suspicious.test(json) ? redactStrings(json, redactForms, null) : json
}

/** R4 */
function textOfLog(text: string): string {
  const redacted = redactText(text.slice(0, MAX_SEEN))
  const isCut = redacted.length > MAX_CHARACTERS || text.length > MAX_SEEN
  return isCut ? `${redacted.slice(0, MAX_CHARACTERS)}… (cut)` : redacted
}

/**
 * Replaces the strings of a JSON text.
 * @param secretNames keys whose values are redacted as a whole, also inside of lists and objects
 */
function redactStrings(json: string, show: (text: string) => string, secretNames: RegExp | null): string {
  let shown = ''
  let copied = 0
  let depth = 0
  let isSecret = false // of the next value
  let secretFrom = Infinity // the depth of a list or an object that is a secret as a whole
  structural.lastIndex = 0
  for (let found = structural.exec(json); found !== null; found = structural.exec(json)) {
    const at = found.index
    if (found[0] === '{' || found[0] === '[') {
      depth++
      if (isSecret) secretFrom = Math.min(secretFrom, depth)
      isSecret = false
    } else if (found[0] !== '"') {
      if (depth === secretFrom) secretFrom = Infinity
      depth--
    } else {
      const end = endOfQuoted(json, at + 1, '"', 0)
      const raw = json.slice(at + 1, end)
      const isKey = json[end + 1] === ':'
      const hidden = !isKey && (isSecret || depth >= secretFrom)
      shown += json.slice(copied, at + 1) + (hidden ? REDACTED : shownString(raw, show))
      copied = end
      isSecret = isKey && secretNames !== null && secretNames.test(raw)
      structural.lastIndex = end + 1
    }
  }
  return shown + json.slice(copied)
}

const structural = /["{}[\]]/g

/** The contents of a JSON string as they may be shown, escaped again. */
function shownString(raw: string, show: (text: string) => string): string {
  if (raw.length <= MAX_CHARACTERS && !suspicious.test(raw)) return raw
  const text = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
  const shown = show(text)
  return shown === text ? raw : JSON.stringify(shown).slice(1, -1)
}

/** R3 */
function redactAddresses(text: string): string {
  let shown = ''
  let copied = 0
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at)) {
    const from = at + 3
    endOfAddress.lastIndex = from
    at = endOfAddress.exec(text)?.index ?? text.length
    const login = text.slice(from, at).split('@').slice(0, -1).join('@') // up to the last @
    const colon = login.indexOf(':')
    if (colon < 0 && login.length < SECRET_LOGIN) continue
    shown += text.slice(copied, from + colon + 1) + REDACTED
    copied = from + login.length
  }
  return shown + text.slice(copied)
}

const endOfAddress = /[\s"'<>`]/g
/** A login without a password that is as long as a token is one. */
const SECRET_LOGIN = 16

/** R1 */
function redactNamed(text: string): string {
  const name = new RegExp(`(?:${names})[\\w-]{0,40}`, 'gi')
  let shown = ''
  let copied = 0
  let proseUntil = 0 // R4: a name within a word of prose has a shorter word of prose behind it
  for (let found = name.exec(text); found !== null; found = name.exec(text)) {
    const value = valueBehind(text, name.lastIndex, found[0], proseUntil)
    if (value === null) continue
    if (value.isProse) {
      proseUntil = value.to
      continue
    }
    shown += text.slice(copied, value.from) + REDACTED
    copied = value.to
    name.lastIndex = value.to
  }
  return shown + text.slice(copied)
}

interface Value {
  from: number
  to: number
  /** An ordinary word follows the name, not a credential. */
  isProse: boolean
}

/** `"name": "value"` at any depth of escapes, `name=value`, `name: value` and `["name", "value"]`. */
function valueBehind(text: string, at: number, name: string, proseUntil: number): Value | null {
  separator.lastIndex = at
  const [, closing, sign] = separator.exec(text) ?? []
  if (sign === undefined || (sign === ',' && closing === undefined)) return null
  const from = separator.lastIndex
  opening.lastIndex = from
  const [open, escapes = '', quote = ''] = opening.exec(text) ?? []
  if (open !== undefined) {
    const begin = from + open.length
    return { from: begin, to: endOfQuoted(text, begin, quote, escapes.length), isProse: false }
  }
  if (sign === ',') return null
  const isHeader = sign === ':' && /^(?:authorization|cookie)/i.test(name)
  if (sign === ':' && !isHeader && from < proseUntil) return null
  const word = isHeader ? restOfLine : bare
  word.lastIndex = from
  const value = word.exec(text)?.[0] ?? ''
  const isProse =
    sign === ':' && !isHeader && !(value.length >= 6 && /\d/.test(value)) && value.length < LONGER_THAN_WORDS
  return value === '' || /^[\d.]+$/.test(value) ? null : { from, to: from + value.length, isProse }
}

/** A key of letters alone is longer than the words of a text. */
const LONGER_THAN_WORDS = 24

const separator = /(\\{0,15}["'`])?\s{0,4}([:=,])\s{0,4}/y
const opening = /(\\{0,15})(["'`])/y
const bare = /[^\s"'\\,;&<>(){}[\]]+/y
const restOfLine = /[^\r\n"'\\]+/y

/**
 * The end of a text between quotes with `escapes` backslashes before each, as JSON inside a JSON string has them; the
 * end of the text if there is no such quote.
 */
function endOfQuoted(text: string, from: number, quote: string, escapes: number): number {
  for (let at = from; at < text.length; at++) {
    const first = at
    while (text[at] === '\\') at++
    if (text[at] === quote && (at - first) % (2 * (escapes + 1)) === escapes) return at - escapes
  }
  return text.length
}

/** Returns a user's text on one line and without links, for a header or a sentence of a mail or a message. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(/:\/\//g, ': //')
    .replace(/(?<=[\p{L}\p{M}\p{N}\p{S}_])[.。．｡](?=[\p{L}\p{M}\p{N}\p{S}_])/gu, '$& ')
    .trim()
}
