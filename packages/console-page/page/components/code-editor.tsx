import { useId, useImperativeHandle, useLayoutEffect, useEffect, useRef, useState, type Ref } from 'react'
import { flushSync } from 'react-dom'
import type { CodeOptions, CodeView } from './code-mirror.ts'

export interface CodeHandle {
  focus(caret?: number): void
}

type Open = (typeof import('./code-mirror.ts'))['openCodeView']
let open: Open | null = null

/** Text with the line ends that an editor knows, so that it counts the same characters. An edit stores these. */
export const withLineFeeds = (text: string) => text.replaceAll(/\r\n?/g, '\n')

/**
 * Text with colors, checks in place and completion. Until these are loaded, and where they cannot be, it is a plain
 * text area; what was typed there, its selection and the focus move along.
 */
export function CodeEditor({ ref, rows = 3, ...given }: CodeOptions & { rows?: number; ref?: Ref<CodeHandle> }) {
  const options = { ...given, value: withLineFeeds(given.value) }
  const { label, hint, fault, value, isPanel = false } = options
  const id = useId()
  const [isLoaded, setLoaded] = useState(open !== null)
  const area = useRef<HTMLTextAreaElement>(null)
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<CodeView>(null)
  const left = useRef<{ anchor: number; head: number; isFocused: boolean } | null>(null)
  const latest = useRef(options)
  useLayoutEffect(() => {
    latest.current = options
    view.current?.update()
  })
  useEffect(() => {
    if (isLoaded) return
    let isGone = false
    const take = () => {
      const { current: plain } = area
      if (isGone || !plain) return
      const isFocused = document.activeElement === plain
      left.current = { anchor: plain.selectionStart, head: plain.selectionEnd, isFocused }
      flushSync(() => setLoaded(true)) // what the user types until a later render would reach neither field
    }
    void import('./code-mirror.ts').then(
      ({ openCodeView }) => {
        open = openCodeView
        // A composition, such as Japanese input, would be cut off.
        if (area.current?.dataset['composing']) area.current.addEventListener('compositionend', take, { once: true })
        else take()
      },
      () => {}, // the plain text area remains
    )
    return () => void (isGone = true)
  }, [isLoaded])
  useLayoutEffect(() => {
    const element = host.current
    if (!element || !open) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    element.focus = () => view.current?.focus()
    const doc = latest.current.value
    view.current = open(root, { doc, selection: left.current, read: () => latest.current })
    if (left.current?.isFocused) view.current.focus()
    left.current = null
    return () => {
      view.current?.destroy()
      view.current = null
    }
  }, [isLoaded])
  useImperativeHandle(ref, () => ({
    focus(caret) {
      if (view.current) return view.current.focus(caret)
      area.current?.focus()
      if (caret !== undefined) area.current?.setSelectionRange(caret, caret)
    },
  }))
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div className={isPanel ? 'code-field panel' : 'field code-field'}>
      {!isPanel && (
        <label htmlFor={isLoaded ? undefined : id} onClick={() => view.current?.focus()}>
          {label}
        </label>
      )}
      {isLoaded ? (
        <div
          ref={host}
          className={`code-editor${fault ? ' faulty' : ''}`}
          style={isPanel ? {} : { minHeight: `calc(${rows} * 1.5em + 0.8rem + 2px)` }}
        />
      ) : (
        <textarea
          ref={area}
          id={id}
          className="code"
          rows={rows}
          spellCheck={false}
          {...(isPanel && { 'aria-label': label })}
          {...(described && { 'aria-describedby': described })}
          {...(fault && { 'aria-invalid': true })}
          value={value}
          onChange={({ target }) => {
            options.onChange(target.value)
            options.onCaret?.(target.selectionStart)
          }}
          onSelect={({ currentTarget }) => options.onCaret?.(currentTarget.selectionStart)}
          onBlur={options.onBlur}
          onCompositionStart={({ currentTarget }) => void (currentTarget.dataset['composing'] = 'yes')}
          onCompositionEnd={({ currentTarget }) => void delete currentTarget.dataset['composing']}
        />
      )}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && !isPanel && (
        <span className="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </div>
  )
}
