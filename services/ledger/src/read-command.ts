export interface Command {
  whole: boolean
  /** An anchor to compare with. */
  against: string | null
  /** Only these; none: all. */
  projects: string[]
}

/** Reads the words behind `npm run ledger --`. Answers what to say where they are wrong. */
export function readCommand(
  [verb, ...words]: string[],
  isAnchor: (text: string) => boolean,
): Command | { wrong: string } {
  if (verb !== 'check') return { wrong: '' }
  const command: Command = { whole: false, against: null, projects: [] }
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--whole') command.whole = true
    else if (word === '--against') {
      const anchor = words.shift() ?? ''
      if (!isAnchor(anchor)) return { wrong: `${anchor || 'Nothing'} is no anchor.\n` }
      command.against = anchor
      command.whole = true // that the seals fit the entries is a part of it
    } else if (word.startsWith('-')) return { wrong: `I don't know ${word}.\n` }
    else command.projects.push(word)
  }
  return command
}
