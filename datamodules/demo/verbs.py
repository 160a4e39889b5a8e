"""Verbs of the demo world.

Transitive: English base [past [participle]] | objects | French | German infinitive [present past] |
Finnish third-person stem and past. French: an infinitive in -er, or present, plural, participle.
Intransitive verbs add to the Finnish ones the stem after the negative verb and its past participle.
`event` lists put causes before effects: a coordinated or narrated pair keeps that order.
"""

TRANSITIVE = """
buy bought|food clothes furniture vehicle|achète achètent acheté|kaufen|osta osti
sell sold|food animal vehicle art|vend vendent vendu|verkaufen|myy myi
find found|text tool clothes|trouver|finden findet fand|löytä löysi
lose lost|text tool clothes|perd perdent perdu|verlieren verliert verlor|kadotta kadotti
repair|vehicle tool|réparer|reparieren|korjaa korjasi
break broke broken|tool furniture|casser|zerbrechen zerbricht zerbrach|rikko rikkoi
wash|clothes food|laver|waschen wäscht wusch|pese pesi
clean|furniture|nettoie nettoient nettoyé|putzen|siivoa siivosi
eat ate eaten|food|manger|essen isst aß|syö söi
cut cut|food plant|couper|schneiden schneidet schnitt|leikkaa leikkasi
taste|food|goûter|kosten|maista maistoi
peel|food|éplucher|schälen|kuori kuori
bring brought|food clothes|apporter|bringen bringt brachte|tuo toi
carry|tool furniture|porter|tragen trägt trug|kanta kantoi
read read|text|lit lisent lu|lesen liest las|luke luki
write wrote written|text|écrit écrivent écrit|schreiben schreibt schrieb|kirjoitta kirjoitti
translate|text|traduit traduisent traduit|übersetzen|kääntä käänsi
sign|text|signer|unterschreiben unterschreibt unterschrieb|allekirjoitta allekirjoitti
copy|text|copier|kopieren|kopioi kopioi
burn|text|brûler|verbrennen verbrennt verbrannte|poltta poltti
hide hid hidden|text tool|cacher|verstecken|piilotta piilotti
steal stole stolen|art vehicle|voler|stehlen stiehlt stahl|varasta varasti
sew sewed sewn|clothes|coud cousent cousu|nähen|ompele ompeli
wear wore worn|clothes|porter|tragen trägt trug|puke puki
choose chose chosen|clothes art|choisit choisissent choisi|wählen|valitse valitsi
iron|clothes|repasser|bügeln bügelt bügelte|silittä silitti
paint|furniture art|peint peignent peint|bemalen|maalaa maalasi
build built|furniture vehicle|construit construisent construit|bauen|rakenta rakensi
move|furniture|déplacer|verschieben verschiebt verschob|siirtä siirsi
open|furniture text|ouvre ouvrent ouvert|öffnen öffnet öffnete|avaa avasi
close|furniture|ferme ferment fermé|schließen schließt schloss|sulke sulki
drive drove driven|vehicle|conduit conduisent conduit|fahren fährt fuhr|aja ajoi
stop|vehicle|arrêter|stoppen|pysäyttä pysäytti
park|vehicle|garer|parken|pysäköi pysäköi
load|vehicle|charger|beladen belädt belud|lastaa lastasi
rent|vehicle|louer|mieten mietet mietete|vuokraa vuokrasi
see saw seen|animal plant|voit voient vu|sehen sieht sah|näke näki
hear heard|animal art|entend entendent entendu|hören|kuule kuuli
feed fed|animal|nourrit nourrissent nourri|füttern füttert fütterte|ruokki ruokki
catch caught|animal|attraper|fangen fängt fing|nappaa nappasi
hunt|animal|chasser|jagen|metsästä metsästi
train|animal|dresser|dressieren|koulutta koulutti
free|animal|libère libèrent libéré|befreien|vapautta vapautti
call|person animal|appelle appellent appelé|rufen ruft rief|kutsu kutsui
meet met|person|rencontrer|treffen trifft traf|tapaa tapasi
accompany|person|accompagner|begleiten|saatta saattoi
welcome|person|accueille accueillent accueilli|begrüßen|vastaanotta vastaanotti
reward|person|récompenser|belohnen|palkitse palkitsi
recognise|person|reconnaît reconnaissent reconnu|erkennen erkennt erkannte|tunnista tunnisti
save|person animal|sauver|retten rettet rettete|pelasta pelasti
wake woke woken|person|réveiller|wecken|herättä herätti
forget forgot forgotten|text clothes|oublie oublient oublié|vergessen vergisst vergaß|unohta unohti
remember|text art|retient retiennent retenu|behalten behält behielt|muista muisti
play|art|joue jouent joué|spielen|soitta soitti
record|art|enregistrer|speichern speichert speicherte|nauhoitta nauhoitti
learn|text art|apprend apprennent appris|lernen|oppi oppi
plant|plant|planter|pflanzen|istutta istutti
water|plant|arroser|gießen gießt goss|kastele kasteli
pick|plant|cueille cueillent cueilli|pflücken|poimi poimi
photograph|animal plant|photographier|fotografieren|kuvaa kuvasi
use|tool vehicle|utiliser|benutzen|käyttä käytti
borrow|tool text|emprunter|leihen leiht lieh|lainaa lainasi
replace|tool furniture|remplace remplacent remplacé|ersetzen|korvaa korvasi
collect|art plant|collectionner|sammeln sammelt sammelte|kerää keräsi
describe|art plant|décrit décrivent décrit|beschreiben beschreibt beschrieb|kuvaile kuvaili
draw drew drawn|animal plant|dessiner|zeichnen zeichnet zeichnete|piirtä piirsi
show showed shown|art text|montrer|zeigen|esittele esitteli
inspect|vehicle tool|inspecter|prüfen|tarkasta tarkasti
lift|furniture tool|soulève soulèvent soulevé|heben hebt hob|nosta nosti
push|vehicle furniture|pousser|schieben schiebt schob|työntä työnsi
cook|food|cuisiner|kochen|keittä keitti
serve|food|sert servent servi|servieren|tarjoile tarjoili
sharpen|tool|aiguiser|schärfen|teroitta teroitti
polish|furniture tool|lustrer|polieren|kiillotta kiillotti
weigh|food animal|pèse pèsent pesé|wiegen wiegt wog|punnitse punnitsi
pack|clothes food|emballer|packen|pakkaa pakkasi
send sent|text clothes|envoie envoient envoyé|schicken|lähettä lähetti
receive|text clothes|reçoit reçoivent reçu|erhalten erhält erhielt|saa sai
lock|furniture vehicle|verrouiller|verriegeln verriegelt verriegelte|lukitse lukitsi
decorate|furniture food|décorer|schmücken|koristele koristeli
"""
INTRANSITIVE = """
sleep slept|dort dorment dormi|schlafen schläft schlief|nukku nukkui nuku nukkunut
work|travailler|arbeiten arbeitet arbeitete|työskentele työskenteli työskentele työskennellyt
laugh|rit rient ri|lachen|naura nauroi naura nauranut
cry|pleurer|weinen|itke itki itke itkenyt
wait|attend attendent attendu|warten wartet wartete|odotta odotti odota odottanut
dance|danser|tanzen|tanssi tanssi tanssi tanssinut
sing sang sung|chanter|singen singt sang|laula lauloi laula laulanut
swim swam swum|nager|schwimmen schwimmt schwamm|ui ui ui uinut
run ran run|court courent couru|laufen läuft lief|juokse juoksi juokse juossut
walk|marcher|gehen geht ging|kävele käveli kävele kävellyt
travel|voyager|reisen|matkusta matkusti matkusta matkustanut
smile|sourit sourient souri|lächeln lächelt lächelte|hymyile hymyili hymyile hymyillyt
shout|crier|schreien schreit schrie|huuta huusi huuda huutanut
whisper|chuchoter|flüstern flüstert flüsterte|kuiskaa kuiskasi kuiskaa kuiskannut
speak spoke spoken|parler|sprechen spricht sprach|puhu puhui puhu puhunut
dream|rêver|träumen|haaveile haaveili haaveile haaveillut
live|habiter|wohnen|asu asui asu asunut
hesitate|hésiter|zögern zögert zögerte|epäröi epäröi epäröi epäröinyt
cough|tousser|husten hustet hustete|yski yski yski yskinyt
breathe|respirer|atmen atmet atmete|hengittä hengitti hengitä hengittänyt
tremble|trembler|zittern zittert zitterte|vapise vapisi vapise vapissut
study|étudie étudient étudié|studieren|opiskele opiskeli opiskele opiskellut
"""
# said with a clause: English | French | German | Finnish
SAYING = """
say said|dit disent dit|sagen|sano sanoi
think thought|pense pensent pensé|denken denkt dachte|ajattele ajatteli
know knew known|sait savent su|wissen weiß wusste|tietä tiesi
believe|croit croient cru|glauben|usko uskoi
hope|espère espèrent espéré|hoffen|toivo toivoi
notice|remarquer|bemerken|huomaa huomasi
explain|expliquer|erklären|selittä selitti
dream|rêve rêvent rêvé|träumen|uneksi uneksi
claim|affirmer|behaupten behauptet behauptete|väittä väitti
report|signaler|melden meldet meldete|ilmoitta ilmoitti
admit admitted|avouer|gestehen gesteht gestand|myöntä myönsi
fear|craint craignent craint|fürchten fürchtet fürchtete|pelkää pelkäsi
"""
# what happens one after the other, cause before effect
EVENTS = """
buy wash peel cut cook taste eat
find bring sew iron wear
lose find use
break repair use
steal drive sell
choose buy pack send
write sign send
receive open read copy
borrow use replace
see catch feed train free
hunt catch weigh sell
plant water pick describe
learn play record
rent load drive park
build paint polish decorate
meet welcome accompany reward
push stop inspect repair
lift carry move clean polish
draw collect describe
hear see photograph
collect describe show
sharpen use lose
"""
# which subjects the events go with; other verbs take any person
AGENTS = {
    "cook": "cook baker mother father waiter",
    "serve": "waiter cook guest aunt",
    "peel": "cook child mother",
    "write": "writer poet student journalist secretary lawyer",
    "sign": "director lawyer king judge",
    "translate": "student writer scientist librarian",
    "read": "student judge librarian girl boy",
    "play": "musician singer child student",
    "record": "musician singer actor",
    "hunt": "hunter soldier king",
    "catch": "fisherman hunter boy",
    "feed": "farmer girl boy gardener",
    "train": "farmer soldier hunter",
    "repair": "mechanic engineer carpenter driver",
    "build": "carpenter engineer mechanic",
    "drive": "driver farmer pilot tourist",
    "park": "driver tourist director",
    "load": "driver sailor merchant farmer",
    "steal": "thief sailor soldier",
    "paint": "painter carpenter child",
    "draw": "painter child engineer",
    "plant": "gardener farmer woman",
    "water": "gardener farmer girl",
    "sew": "mother aunt sister nurse",
    "iron": "mother father secretary",
    "save": "doctor nurse soldier sailor",
    "sell": "merchant baker butcher farmer",
    "photograph": "tourist journalist scientist",
    "describe": "scientist writer journalist",
    "sharpen": "butcher carpenter cook",
}
