// Events in, text out.
import Pipelines
