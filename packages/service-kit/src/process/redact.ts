// Runs over each finished log line, so nothing that is logged by accident at any depth slips through:
//   R1  text under a key that names a credential;
//   R2  our own secrets (svc_…, svu_…, svt_…) and bearer tokens wherever they stand;
//   R3  passwords inside addresses.
const credentialField =
  /"([^"\\]*(?:authorization|cookie|secret|password|passwd|token|api_?-?key|credential)[^"\\]*)":"(?:[^"\\]|\\.)*"/gi
const ownSecret = /\b(sv[cut]_[0-9A-Za-z]{8})[0-9A-Za-z]{4,}/g
const bearer = /\b(bearer) +[\w.~+/=-]{8,}/gi
const addressPassword = /(:\/\/[^\s:@/"]*):[^\s@/"]+@/g

/** One line of JSON with everything that could be a credential taken out. Stays valid JSON. */
export function redactLine(line: string): string {
  return line
    .replace(credentialField, '"$1":"[redacted]"') // R1
    .replace(ownSecret, '$1…') // R2
    .replace(bearer, '$1 [redacted]')
    .replace(addressPassword, '$1:[redacted]@') // R3
}
