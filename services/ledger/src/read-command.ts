import { isMonth, type Month } from './archive/month.ts'
import { isAnchor } from './check/anchor.ts'

export interface CheckCommand {
  verb: 'check'
  whole: boolean
  /** An anchor to compare with. */
  against: string | null
  /** A folder of archived months to check as well. */
  archive: string | null
  /** Only these projects; empty: all. */
  projects: string[]
}

export interface ArchiveCommand {
  verb: 'archive'
  /** Only months before this one. */
  before: Month | null
  /** Folder for the files; null: from the environment. */
  to: string | null
  /** Print what would be done. */
  dry: boolean
}

type Wrong = { wrong: string }

/** Reads the arguments after `npm run ledger --`. Returns what is wrong with them, if anything is. */
export function readCommand([verb, ...words]: string[]): CheckCommand | ArchiveCommand | Wrong {
  if (verb === 'check') return readCheck(words)
  if (verb === 'archive') return readArchive(words)
  return { wrong: '' }
}

function readCheck(words: string[]): CheckCommand | Wrong {
  const command: CheckCommand = { verb: 'check', whole: false, against: null, archive: null, projects: [] }
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--whole') command.whole = true
    else if (word === '--against') {
      const anchor = words.shift() ?? ''
      if (!isAnchor(anchor)) return { wrong: `${anchor || 'Nothing'} is not an anchor.\n` }
      command.against = anchor
      command.whole = true // a whole check includes that the seals fit the entries
    } else if (word === '--archive') {
      command.archive = words.shift() ?? null
      if (command.archive === null) return { wrong: '--archive needs a folder.\n' }
      command.whole = true // the books must continue where the archive ends
    } else if (word.startsWith('-')) return { wrong: `Unknown option ${word}.\n` }
    else command.projects.push(word)
  }
  return command
}

function readArchive(words: string[]): ArchiveCommand | Wrong {
  const command: ArchiveCommand = { verb: 'archive', before: null, to: null, dry: false }
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--dry') command.dry = true
    else if (word === '--before') {
      const month = words.shift() ?? ''
      if (!isMonth(month)) return { wrong: `${month || 'Nothing'} is not a month. Write it like 2026-08.\n` }
      command.before = month
    } else if (word === '--to') {
      command.to = words.shift() ?? null
      if (command.to === null) return { wrong: '--to needs a folder.\n' }
    } else return { wrong: `Unknown option ${word}.\n` }
  }
  return command
}
