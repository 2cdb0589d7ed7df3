import type { Given } from '../frame/command-row.ts'
import { folderOf } from '../flows/open-flows.ts'
import { readProfiles } from '../session/profiles.ts'
import { candidatesAt, type Candidate, type Candidates } from './candidates.ts'
import type { Shell } from './completion-scripts.ts'

/** Format of a candidate per shell: bash has no summaries, and zsh separates them by a colon. */
const written: Readonly<Record<Shell, (candidate: Candidate) => string>> = {
  bash: ({ word }) => word,
  zsh: ({ word, summary }) => (summary === '' ? word : `${word}:${summary}`),
  fish: ({ word, summary }) => (summary === '' ? word : `${word}\t${summary}`),
}

/** Candidates for the last word of a line, for a shell script: one per line, or what the shell completes by itself. */
export async function completionAnswer(
  { commands, io }: Pick<Given, 'commands' | 'io'>,
  shell: Shell,
  line: readonly string[],
): Promise<string> {
  const asked = shell === 'bash' ? withoutEqualsSigns(line) : line
  const candidates = candidatesAt(commands, asked)
  if (candidates.offered === 'files' || candidates.offered === 'folders') return `:${candidates.offered}\n`
  const all = [...candidates.words, ...(await namesOf(io, candidates))]
    .filter(({ word }) => isPlain(word))
    .map(({ word, summary }) => ({ word: candidates.prefix + word, summary }))
    // The other shells filter by themselves, as their users have configured.
    .filter(({ word }) => shell !== 'bash' || word.startsWith(asked.at(-1)!))
  return all.map((candidate) => `${written[shell](candidate)}\n`).join('')
}

/** Words that no shell has to quote and every script can trust. */
const isPlain = (word: string) => /^[\w./@-]+$/.test(word)

/** bash splits `--state=Active` into three words, and completes the last one. */
const withoutEqualsSigns = (line: readonly string[]) =>
  line.flatMap((word, n) => (word !== '=' ? [word] : n === line.length - 1 ? [''] : []))

/** Completion reports no failures to the user. */
async function namesOf(io: Given['io'], { offered, given }: Candidates): Promise<Candidate[]> {
  try {
    if (offered === 'flows')
      return (await folderOf({ io, options: { dir: given.get('dir') ?? '.' } })).names.map(nameAlone)
    if (offered === 'profiles') return Object.keys(await readProfiles(io)).map(nameAlone)
    return []
  } catch {
    return []
  }
}

const nameAlone = (word: string): Candidate => ({ word, summary: '' })
