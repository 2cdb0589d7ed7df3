import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import type { Command } from './commands.ts'
import { fuzzyFound } from './fuzzy-match.ts'
import { useActionCommands } from './use-action-commands.ts'
import { useScopeCommands } from './use-scope-commands.ts'

/** Search field with the matching commands. Arrow keys select one, Enter runs it. */
export function CommandList({ onClose, onCreateFlow }: { onClose: () => void; onCreateFlow: () => void }) {
  const id = useId()
  const [sought, setSought] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const commands = [...useScopeCommands(), ...useActionCommands({ onCreateFlow })]
  const found = fuzzyFound(commands, sought)
  const at = Math.min(chosen, found.length - 1)
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const run = (command: Command | undefined) => {
    if (!command) return
    if (command.run !== onCreateFlow) onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + found.length }[event.key]
    if (next === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (next === undefined) run(found[at])
    else if (found.length > 0) setChosen(next % found.length)
  }
  return (
    <div className="stack palette-commands">
      <input
        type="search"
        role="combobox"
        aria-label="Search and commands"
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        {...(found[at] && { 'aria-activedescendant': `${id}-${at}` })}
        autoComplete="off"
        placeholder="Search screens, flows, keys, projects and actions"
        value={sought}
        onChange={({ target }) => {
          setSought(target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul ref={list} id={id} role="listbox" aria-label="Results">
        {found.map((command, n) => (
          <li
            key={`${command.kind} ${command.id}`}
            id={`${id}-${n}`}
            role="option"
            aria-selected={n === at}
            onClick={() => run(command)}
          >
            <span>{command.title}</span>
            <span className="soft small">{command.kind}</span>
          </li>
        ))}
      </ul>
      <p className="soft small" role="status">
        {found.length === 0 ? 'No results.' : `${found.length} found`}
      </p>
    </div>
  )
}
