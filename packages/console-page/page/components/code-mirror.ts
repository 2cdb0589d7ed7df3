import { autocompletion, closeCompletion, completionKeymap, type CompletionContext } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  StreamLanguage,
  syntaxHighlighting,
  type StringStream,
} from '@codemirror/language'
import { linter, type Diagnostic } from '@codemirror/lint'
import { Compartment, EditorSelection, EditorState, Transaction } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'

/** Part of a text that cannot be read, and why. */
export interface CodeFault {
  from: number
  to: number
  message: string
}

/** Entry of the completion. `apply` changes the value from the text and the caret when it is chosen. */
export interface CodeOption {
  label: string
  detail: string
  apply: (text: string, caret: number) => void
}

export interface CodeOptions {
  language: 'json' | 'expression' | 'template'
  label: string
  hint?: string
  fault?: string | null
  value: string
  onChange: (text: string) => void
  onCaret?: (caret: number) => void
  onBlur?: () => void
  faultsOf?: (text: string) => CodeFault[]
  /** Completion at a caret: what is offered, and where the name that it replaces starts. */
  offeredAt?: (text: string, caret: number) => { from: number; options: CodeOption[] } | null
  /** Fills its place, with line numbers and without a visible label. */
  isPanel?: boolean
}

export type CodeView = ReturnType<typeof openCodeView>

/**
 * Opens CodeMirror in a shadow root, where its styles are constructed sheets: the policy of the page allows no style
 * elements.
 * @param read returns the current properties of the field
 */
export function openCodeView(
  root: ShadowRoot,
  {
    doc,
    selection,
    read,
  }: { doc: string; selection: { anchor: number; head: number } | null; read: () => CodeOptions },
) {
  const attributes = new Compartment()
  const { language, isPanel } = read()
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc,
      ...(selection && { selection: EditorSelection.single(selection.anchor, selection.head) }),
      extensions: [
        history(),
        EditorView.lineWrapping,
        bracketMatching(),
        syntaxHighlighting({ style: (tags) => classes[tags[0]?.toString() ?? ''] ?? null }),
        language === 'json' ? [json(), codeFolding()] : StreamLanguage.define(expressions(language === 'template')),
        isPanel ? [lineNumbers(), foldGutter()] : [],
        linter(language === 'json' ? jsonFaults : ({ state }) => readFaults(read, state), { delay: 300 }),
        autocompletion({ override: [(context) => offered(read, context)], icons: false }),
        // Tab is not bound: it leaves the field.
        keymap.of([
          ...completionKeymap,
          ...defaultKeymap.filter(({ key }) => key !== 'Mod-i'),
          ...historyKeymap,
          ...foldKeymap,
        ]),
        attributes.of([]),
        theme,
        EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions }) => {
          const isOwn = transactions.some((transaction) => transaction.annotation(Transaction.remote))
          if (docChanged && !isOwn) read().onChange(state.doc.toString())
          if (docChanged || selectionSet) read().onCaret?.(state.selection.main.head)
        }),
        EditorView.domEventHandlers({ blur: () => read().onBlur?.(), beforeinput: replaceSelected }),
      ],
    }),
  })
  /**
   * Takes over a value that was changed elsewhere, and the name and state of the field. A change while the field has
   * the focus, such as a completion, is a step of its history.
   */
  function update(): void {
    const { value, label, fault, hint } = read()
    const before = view.state.doc.toString()
    const isStep = before !== value && root.activeElement !== null
    const said = [hint, fault].filter(Boolean).join(' ')
    view.dispatch({
      ...(before !== value && { changes: difference(before, value) }),
      annotations: [
        Transaction.remote.of(true),
        isStep ? isolateHistory.of('full') : Transaction.addToHistory.of(false),
      ],
      effects: attributes.reconfigure(
        EditorView.contentAttributes.of({
          'aria-label': label,
          ...(said !== '' && { 'aria-description': said }),
          ...(fault && { 'aria-invalid': 'true' }),
        }),
      ),
    })
  }
  update()
  return {
    update,
    focus(caret?: number): void {
      if (caret !== undefined) view.dispatch({ selection: { anchor: Math.min(caret, view.state.doc.length) } })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}

/**
 * Text typed over a selection. The browser would give it the style of the replaced text in a style attribute, which the
 * policy of the page forbids.
 */
function replaceSelected({ inputType, data }: InputEvent, view: EditorView): boolean {
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
  return true
}

/** The smallest change from one text to another, so that the caret keeps its place. */
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from++
  let end = 0
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) }
}

function jsonFaults(view: EditorView): Diagnostic[] {
  return view.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(view)
}

function readFaults(read: () => CodeOptions, state: EditorState): Diagnostic[] {
  const { length } = state.doc
  const faults = read().faultsOf?.(state.doc.toString()) ?? []
  return faults.map(({ from, to, message }) => ({
    from: Math.min(from, length),
    to: Math.min(to, length),
    message,
    severity: 'error',
  }))
}

function offered(read: () => CodeOptions, { state, pos, explicit }: CompletionContext) {
  const { offeredAt } = read()
  const found = offeredAt?.(state.doc.toString(), pos)
  if (!found || (found.from === pos && !explicit)) return null
  const options = found.options.map(({ label, detail, apply }) => ({
    label,
    detail,
    apply: (view: EditorView) => {
      closeCompletion(view)
      apply(view.state.doc.toString(), view.state.selection.main.head)
    },
  }))
  return { from: found.from, options, validFor: /^\w*$/ }
}

/** Colors of the parts of a text, by the name of their tag. */
const classes: Readonly<Record<string, string>> = {
  propertyName: 'code-name',
  variableName: 'code-name',
  string: 'code-string',
  number: 'code-number',
  bool: 'code-number',
  null: 'code-number',
  keyword: 'code-number',
  comment: 'code-quiet',
  operator: 'code-quiet',
  separator: 'code-quiet',
  brace: 'code-brace',
}

const word = /^[A-Za-z_]\w*/

/** Expressions, or a template with expressions in its holes. */
function expressions(isTemplate: boolean) {
  return {
    startState: () => ({ isHole: false }),
    token(stream: StringStream, state: { isHole: boolean }): string | null {
      if (isTemplate && !state.isHole) {
        if (stream.match('{{')) {
          state.isHole = true
          return 'brace'
        }
        if (!stream.skipTo('{{')) stream.skipToEnd()
        return null
      }
      if (isTemplate && stream.match('}}')) {
        state.isHole = false
        return 'brace'
      }
      if (stream.eatSpace()) return null
      if (stream.match('//')) {
        stream.skipToEnd()
        return 'comment'
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string'
      if (stream.match(/^\d[\d.eExXa-fu]*/)) return 'number'
      const name = stream.match(word)
      if (name) return ['true', 'false', 'null', 'in'].includes(stream.current()) ? 'keyword' : 'variableName'
      stream.next()
      return 'operator'
    },
  }
}

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', fontSize: 'var(--type-text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { padding: '0.4rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.65rem' },
  '.cm-gutters': { border: '0', background: 'none', color: 'var(--soft)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-matchingBracket': { outline: '1px solid var(--accent)', background: 'var(--accent-ground) !important' },
  '.cm-nonmatchingBracket': { color: 'var(--bad)', background: 'none !important' },
  '.cm-foldPlaceholder': { border: '0', background: 'var(--accent-ground)', color: 'var(--accent)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--round)',
    background: 'var(--raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow-high)',
    fontFamily: 'var(--sans)',
  },
  // The images of the library are data URLs, which the policy of the page forbids.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad) 1px' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: 'var(--type-small)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.6rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.8' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.code-name': { color: 'var(--accent)' },
  '.code-string': { color: 'var(--good)' },
  '.code-number': { color: 'var(--warn)' },
  '.code-quiet': { color: 'var(--soft)' },
  '.code-brace': { color: 'var(--accent)', fontWeight: '600' },
})
