import { createContext, useContext } from 'react'
import { useStore } from 'zustand'
import type { ProductRecord } from '@gateway/api/console/products'
import type { CanvasModel, Products } from './core/canvas-model.ts'
import type { Editor, EditorState } from './state/open-editor.ts'

/** State shared by all parts of an open editor. */
export interface EditorSession {
  editor: Editor
  model: CanvasModel
  products: Products
  catalogue: readonly ProductRecord[]
}

const Session = createContext<EditorSession | null>(null)
export const SessionProvider = Session.Provider

export function useSession(): EditorSession {
  const session = useContext(Session)
  if (!session) throw new Error('No editor is open.')
  return session
}

export function useSelection(): Pick<EditorState, 'selectedNodes' | 'selectedEdges'> {
  const { store } = useSession().editor
  const selectedNodes = useStore(store, (state) => state.selectedNodes)
  const selectedEdges = useStore(store, (state) => state.selectedEdges)
  return { selectedNodes, selectedEdges }
}
