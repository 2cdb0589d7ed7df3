import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { contractDeclaration } from './contract-declaration.ts'

// The published declarations, which are self-contained: those from packages/api-client are in `api` next to them, and
// those of the contract are written out in one more file.

const clientFolder = path.join(import.meta.dirname, '../src')
const apiFolder = path.join(import.meta.dirname, '../../../packages/api-client/src')
const CONTRACT = 'contract.d.ts'

/**
 * Returns text by file name: the declarations of these entry points, and of all files that they reference.
 * @throws Error for an export without an explicit type, since each declaration is generated from its file alone
 */
export function declarations(entries: readonly string[]): Map<string, string> {
  const made = new Map([[CONTRACT, contractDeclaration()]])
  const add = (file: string) => {
    const name = publishedName(file)
    if (made.has(name)) return
    made.set(name, '') // files may reference each other
    const named: string[] = []
    const text = declared(file).replaceAll(/(?<=\bfrom ")[^"]+(?=")/g, (specifier) => {
      const target = targetOf(specifier, file)
      if (target !== null) named.push(target)
      const other = path.posix.relative(path.posix.dirname(name), target === null ? CONTRACT : publishedName(target))
      return (other.startsWith('.') ? other : `./${other}`).replace(/\.d\.ts$/, '.js')
    })
    made.set(name, text)
    named.forEach(add)
  }
  for (const entry of entries) add(path.join(clientFolder, `${entry}.ts`))
  return made
}

function declared(file: string): string {
  const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, 'utf8'), { sourcemap: false })
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join(' ')}`)
  return code.replaceAll(/^\s*override /gm, ' ') // not allowed in declarations
}

/** The referenced file; null for the contract. */
function targetOf(specifier: string, from: string): string | null {
  if (specifier.startsWith('@gateway/api/') || specifier === './contract-table.ts') return null
  const [, api] = /^@gateway\/api-client\/(.+)$/.exec(specifier) ?? []
  return api === undefined ? path.resolve(path.dirname(from), specifier) : path.join(apiFolder, `${api}.ts`)
}

function publishedName(file: string): string {
  const name = path.basename(file, '.ts')
  return path.dirname(file) === apiFolder ? `api/${name}.d.ts` : `${name}.d.ts`
}
