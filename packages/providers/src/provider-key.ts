import { readFileSync } from 'node:fs'

interface KeyWays {
  apiKey?: string | undefined
  apiKeyEnv?: string | undefined
  apiKeyFile?: string | undefined
}

/**
 * The key of a provider, from wherever its configuration says; undefined where it needs none. Throws an error that says
 * where the key was looked for, and never the key.
 */
export function providerKey(
  name: string,
  { apiKey, apiKeyEnv, apiKeyFile }: KeyWays,
  environment: Record<string, string | undefined>,
): string | undefined {
  const trouble = (where: string): Error => new Error(`PROVIDERS: the provider "${name}" takes its key from ${where}.`)

  function fit(key: string, where: string): string {
    // Anything else would be refused as a header, at each call.
    if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key
    throw trouble(`${where}, which holds no key: it has blanks or special characters, or is too long`)
  }

  if (apiKeyEnv !== undefined) {
    const key = environment[apiKeyEnv]
    if (!key) throw trouble(`${apiKeyEnv}, which is not set`)
    return fit(key, apiKeyEnv)
  }
  if (apiKeyFile !== undefined) {
    const key = readFile(apiKeyFile)?.trim()
    if (key === undefined) throw trouble(`the file ${apiKeyFile}, which can not be read`)
    if (key === '') throw trouble(`the file ${apiKeyFile}, which is empty`)
    return fit(key, `the file ${apiKeyFile}`)
  }
  return apiKey === undefined ? undefined : fit(apiKey, 'apiKey')
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
