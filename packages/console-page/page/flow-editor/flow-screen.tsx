import { useParams } from '@tanstack/react-router'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { useOpenedFlow } from './data/use-opened-flow.ts'
import { FlowEditor } from './flow-editor.tsx'
import './style/layout.css'
import './style/canvas.css'
import './style/forms.css'

/** Opens a flow in its editor. Later refetches do not replace the opened flow. */
export function FlowScreen() {
  const { sandbox = '' } = useParams({ strict: false })
  const { flow, error } = useOpenedFlow(sandbox)
  if (flow) return <FlowEditor key={sandbox} opened={flow} />
  return error ? <RefusalBox error={error} /> : <Waiting what="the flow" />
}
