import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validFlow } from '@gateway/flow/generators'
import { moveNodes, setField } from '../core/node-commands.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { changedBy, randomChange } from '../core/random-change.fixture.ts'
import { openEditor } from './open-editor.ts'

const graphIn = (editor: ReturnType<typeof openEditor>) => editor.store.getState().graph

describe('editor history', () => {
  test('restores the first state by undoing all changes, and the last state by redoing them', () => {
    const group = fc.option(fc.constantFrom('a', 'b'))
    fc.assert(
      fc.property(validFlow(), fc.array(fc.tuple(randomChange, group, fc.nat(1500))), ({ graph }, steps) => {
        let at = 0
        const editor = openEditor(graph, () => at)
        for (const [change, group, waitMs] of steps) {
          at += waitMs
          editor.change((now) => changedBy(now, change), group)
        }
        const end = graphIn(editor)
        const made = editor.history.getState().pastStates.length
        for (let n = 0; n < made; n++) editor.undo()
        expect(graphIn(editor)).toBe(graph)
        for (let n = 0; n < made; n++) editor.redo()
        expect(graphIn(editor)).toBe(end)
      }),
    )
  })

  test('groups typing in one field into one step until a pause; another field starts another step', () => {
    let at = 0
    const editor = openEditor(newGraph, () => at)
    const type = (title: string, group: string) => editor.change((graph) => setField(graph, 'in', group, title), group)
    for (const title of ['a', 'ab', 'abc']) type(title, 'title')
    type('x', 'description')
    at += 2_000
    type('xy', 'description')
    editor.undo()
    expect(graphIn(editor).nodes[0]).toMatchObject({ title: 'abc', description: 'x' })
    editor.undo()
    expect(graphIn(editor).nodes[0]).toMatchObject({ title: 'abc' })
    editor.undo()
    expect(graphIn(editor)).toBe(newGraph)
  })

  test('has no step for a change without effect or for a selection', () => {
    const editor = openEditor(newGraph, () => 0)
    editor.change((graph) => moveNodes(graph, new Map([['in', { x: 0, y: 0 }]])))
    editor.select(['in'])
    expect(editor.history.getState().pastStates).toEqual([])
  })

  test('is empty after another document is opened', () => {
    const editor = openEditor(newGraph, () => 0)
    editor.change((graph) => setField(graph, 'in', 'title', 'a'))
    editor.open({ ...newGraph })
    editor.undo()
    expect(graphIn(editor).nodes[0]).not.toHaveProperty('title')
  })
})
