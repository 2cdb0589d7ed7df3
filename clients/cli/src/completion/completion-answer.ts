import type { Given } from '../frame/command-row.ts'
import { folderOf } from '../flows/open-flows.ts'
import { readProfiles } from '../session/profiles.ts'
import { candidatesAt, type Candidate, type Candidates } from './candidates.ts'
import type { Shell } from './completion-scripts.ts'

/** How each shell takes a candidate: bash has no summaries, and those of zsh are behind a colon. */
const written: Readonly<Record<Shell, (candidate: Candidate) => string>> = {
  bash: ({ word }) => word,
  zsh: ({ word, summary }) => (summary === '' ? word : `${word}:${summary}`),
  fish: ({ word, summary }) => (summary === '' ? word : `${word}\t${summary}`),
}

/** What the last word of a line may become, for the script of a shell: a line for each, or what the shell completes by itself. */
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
    // The others compare by themselves, as their users have told them to.
    .filter(({ word }) => shell !== 'bash' || word.startsWith(asked.at(-1)!))
  return all.map((candidate) => `${written[shell](candidate)}\n`).join('')
}

/** What no shell has to quote, and no script has to doubt. */
const isPlain = (word: string) => /^[\w./@-]+$/.test(word)

/** bash takes `--state=Active` for three words, and completes the last one. */
const withoutEqualsSigns = (line: readonly string[]) =>
  line.flatMap((word, n) => (word !== '=' ? [word] : n === line.length - 1 ? [''] : []))

/** A user who presses a key learns of no failures. */
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
