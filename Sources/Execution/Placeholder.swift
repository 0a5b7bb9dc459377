// Plan in, events out.
import Pipelines
