import { useState } from 'react'
import type { CanvasNode } from '../core/canvas-model.ts'
import { renameNode } from '../core/node-commands.ts'
import { nodeKeys, nodeOf } from '../core/node-keys.ts'
import { useSession } from '../session.ts'
import { NameField } from './name-field.tsx'

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** ID of a node. Renaming updates its edges. An invalid ID stays in the field and is not applied. */
export function IdField({ drawn: { key, node } }: { drawn: CanvasNode }) {
  const { editor, model } = useSession()
  const [typed, setTyped] = useState(node.id)
  const isTaken = typed !== node.id && model.nodes.some((other) => other.node.id === typed)
  const fault = isTaken
    ? 'Another node already has this ID.'
    : ID.test(typed)
      ? null
      : 'Use a letter, then up to 63 letters, digits, _ and -.'
  const rename = () => {
    if (fault !== null || typed === node.id) return
    const ordinal = nodeKeys(model.graph).indexOf(key)
    editor.change((graph) => (nodeOf(graph, key) ? renameNode(graph, key, typed) : graph))
    editor.select([nodeKeys(editor.store.getState().graph)[ordinal]!])
  }
  return <NameField label="ID" typed={typed} fault={fault} onType={setTyped} onDone={rename} />
}
