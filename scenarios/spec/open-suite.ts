import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Suite } from './check-table.ts'
import { titlesIn } from './titles-in.ts'

/** The tests below a folder; a file is read when it is asked for, and once. */
export function openSuite(folder: string): Suite {
  const titles = new Map<string, ReadonlySet<string>>()
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
  const isTest = (file: string) => /\.(test|scenario)\.ts$/.test(file) && existsSync(path.join(folder, file))
  const importedBy = (file: string) =>
    [...read(file).matchAll(/from '(\.[^']+\.ts)'/g)].map(([, name]) => path.join(path.dirname(file), name!))

  return {
    titlesIn(file) {
      if (!isTest(file)) return null
      const found = titles.get(file) ?? titlesIn(file, read(file))
      titles.set(file, found)
      return found
    },
    says: (file, text) => [file, ...importedBy(file)].some((one) => read(one).includes(text)),
  }
}
