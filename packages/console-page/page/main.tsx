import { createRoot } from 'react-dom/client'
import './index.css'

createRoot(document.getElementById('page')!).render(<p>Console</p>)
