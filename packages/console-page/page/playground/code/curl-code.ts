import { KEY_NAME } from './shown-code.ts'

/**
 * A request by curl, for the shells of Linux and macOS. Its body stands in a here-document, in which nothing has to be escaped, and
 * which may be as long as images are.
 * @param headers more of them
 */
export function curlCode(
  url: string,
  body: object,
  { isStream = false, headers = [] }: { isStream?: boolean; headers?: string[] } = {},
): string {
  const all = ['Content-Type: application/json', ...headers].map((header) => `  -H "${header}" \\\n`)
  return `curl ${isStream ? '-N ' : ''}${url} \\
  -H "Authorization: Bearer $${KEY_NAME}" \\
${all.join('')}  --data-binary @- <<'JSON'
${JSON.stringify(body, null, 2)}
JSON
`
}
