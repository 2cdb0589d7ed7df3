import { KEY_NAME } from './shown-code.ts'

/**
 * curl command for Linux and macOS shells. The body is in a here-document, which needs no escaping and can hold images.
 * @param headers additional headers
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
