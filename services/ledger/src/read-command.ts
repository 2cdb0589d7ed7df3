import { isMonth, type Month } from './archive/month.ts'
import { isAnchor } from './check/anchor.ts'

export interface CheckCommand {
  verb: 'check'
  whole: boolean
  /** An anchor to compare with. */
  against: string | null
  /** A folder of archived months, to be checked as well. */
  archive: string | null
  /** Only these; none: all. */
  projects: string[]
}

export interface ArchiveCommand {
  verb: 'archive'
  /** Only months before this one. */
  before: Month | null
  /** The folder for the files; null: as the environment says. */
  to: string | null
  /** Tell what would be done. */
  dry: boolean
}

type Wrong = { wrong: string }

/** Reads the words behind `npm run ledger --`. Answers what to say where they are wrong. */
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
      command.whole = true // that the seals fit the entries is a part of it
    } else if (word === '--archive') {
      command.archive = words.shift() ?? null
      if (command.archive === null) return { wrong: 'Behind --archive there is no folder.\n' }
      command.whole = true // the books have to continue where the archive ends
    } else if (word.startsWith('-')) return { wrong: `I don't know ${word}.\n` }
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
      if (!isMonth(month)) return { wrong: `${month || 'Nothing'} is not a month, such as 2026-08.\n` }
      command.before = month
    } else if (word === '--to') {
      command.to = words.shift() ?? null
      if (command.to === null) return { wrong: 'Behind --to there is no folder.\n' }
    } else return { wrong: `I don't know ${word}.\n` }
  }
  return command
}
