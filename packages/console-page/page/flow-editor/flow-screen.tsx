import { useParams } from '@tanstack/react-router'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { useOpenedFlow } from './data/use-opened-flow.ts'
import { FlowEditor } from './flow-editor.tsx'
import './style/layout.css'
import './style/canvas.css'
import './style/forms.css'

/** One flow, in its editor; what was opened stays, no matter what is read again meanwhile. */
export function FlowScreen() {
  const { sandbox = '' } = useParams({ strict: false })
  const { flow, error } = useOpenedFlow(sandbox)
  if (flow) return <FlowEditor key={sandbox} opened={flow} />
  return error ? <RefusalBox error={error} /> : <Waiting what="the flow" />
}
